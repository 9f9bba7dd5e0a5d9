"""What an answer to a form says: its results, whether there are any, and where they go on."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from sanderling.model import NEAR_BITS
from sanderling.model.forms import Submission, Turner
from sanderling.urls.query import names_in

_MASK = (1 << 64) - 1


class Likeness(NamedTuple):
    """What tells whether two answers say the same."""

    gist: int
    core: int
    simhash: int

    def is_like(self, other: "Likeness") -> bool:
        if (self.core and self.core == other.core) or (self.gist and self.gist == other.gist):
            return True
        return (
            bool(self.simhash and other.simhash) and ((self.simhash ^ other.simhash) & _MASK).bit_count() <= NEAR_BITS
        )


class Split(NamedTuple):
    """The links of an answer by what they are."""

    results: list[int]
    refinements: list[int]


def split(
    links: Iterable[tuple[int, str]], answer: str, action: str, values: Sequence[tuple[str, str]],
    turners: Collection[str], layout: Collection[int],
) -> Split:  # fmt: skip
    """Results, and other views of the same answer: sorted, filtered once more, as CSV, or its next
    page."""
    filled = {(name, value) for name, value in values if value}
    base, asked = _stem(action), {*names_in(answer)}
    found = Split([], [])
    for id, url in links:
        path, _, query = url.partition("?")
        other = _stem(path) == base and (_carries(query, filled) or len(asked & {*names_in(url)}) > 1)
        if url == answer or url in turners or other:
            found.refinements.append(id)
        elif id not in layout:
            found.results.append(id)
    return found


def next_page(turners: Iterable[Turner], page: int, asked: Collection[str]) -> Turner | None:
    """Where the results go on behind a page."""
    wanted = [each for each in turners if each.label == "next"] + [
        each for each in turners if each.label == str(page + 1)
    ]
    return next((each for each in wanted if f"{each.url}\n{each.body}" not in asked), None)


def belongs(turner: Turner, submission: Submission, action: str) -> bool:
    """Whether a pager leads to more of the same answer: not into a calendar, or to another list of
    the site."""
    if submission.body:
        return bool(turner.body)
    path, _, query = turner.url.partition("?")
    filled = {(name, value) for name, value in submission.values if value}
    return urlsplit(path).netloc == urlsplit(action).netloc and (
        _carries(query, filled) or (not filled and _stem(path) == _stem(action))
    )


def _carries(query: str, filled: Collection[tuple[str, str]]) -> bool:
    """Whether a query has all that was filled in. Nothing filled in is carried by any other view of
    the form."""
    pairs = set(parse_qsl(query, keep_blank_values=True))
    return bool(query) and all(pair in pairs for pair in filled)


def _stem(path: str) -> str:
    """A path without what says in which format it is wanted."""
    path = path.partition("?")[0].rstrip("/")
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name.partition('.')[0]}"
