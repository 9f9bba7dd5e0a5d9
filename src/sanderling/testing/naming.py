"""Paths and titles for the pages of the synthetic web."""

import re
from functools import lru_cache
from typing import NamedTuple

from sanderling.testing.prose import nouns, topic_words

_NUMBER = re.compile(r"[-=](\d{1,18})")


class Name(NamedTuple):
    path: str
    title: str


@lru_cache(maxsize=1 << 14)
def name(seed: int, key: int, number: int, topic: int = -1) -> Name:
    """Path and title of a page. The path contains the number of the page, so that the page can be
    found by it.

    Most links lead to a few pages. The cache holds these and saves a third of the time of
    rendering.
    """
    words = nouns(seed)
    section, noun = words[key >> 8 & 0x0F], words[key >> 16 & 0xFF]
    other = words[key >> 24 & 0xFF]
    if topic >= 0 and key >> 32 & 1:  # half of the titles say what the page is about
        other = topic_words(seed, topic)[(key >> 40) % len(topic_words(seed, topic))]
    title = f"{noun.capitalize()} {other} {number}"
    form = key & 7
    if number == 0:
        path = "/"
    elif form < 4:
        path = f"/{section}/{noun}-{number}.html"
    elif form < 6:
        path = f"/{section}/{words[key >> 12 & 0x0F]}/{noun}-{number}.html"
    elif form == 6:
        path = f"/{section}/{noun}-{number}/"
    elif key & 8:
        path = f"/{section}/show?id={number}&view={noun}"
    else:
        path = f"/{section}/{noun}?id={number}"
    return Name(path, title)


def number_in(path: str) -> int:
    digits = _NUMBER.search(path)
    return int(digits[1]) if digits else 0
