"""The words of a text that may be worth asking a search form for."""

import re
from typing import Final

MOST_WORDS: Final = 400
_WORD: Final = re.compile(r"[^\W\d_]{3,24}")


def words_of(text: str) -> str:
    """The different words of a text, at most `MOST_WORDS`, with spaces between them."""
    found = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return " ".join(word for word, _ in zip(found, range(MOST_WORDS), strict=False))
