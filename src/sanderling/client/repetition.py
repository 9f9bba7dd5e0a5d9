"""Tells whether a page with a query says only what other pages with queries have said: a list that
is filtered or sorted in another way.

The combinations of filters have texts of their own, and there may be millions of them. But each
part of such a text stands on another page already.
"""

import re
import string

# What separates the parts of a text: lines, cells, clauses, and the values of JSON and CSV.
_BETWEEN = re.compile(r"""[\n\t"{}\[\],;:|]+""")
# Digits say nothing, and signs separate words.
_SIGNS = dict.fromkeys(map(ord, string.digits)) | dict.fromkeys(map(ord, "_=<>()/.!?'-+*&%#"), " ")
_WORD = re.compile(r"[^\W\d_]{3,}")
# Parts that are remembered. When there are more, all are forgotten, and the next pages count as
# new.
MOST_PARTS = 200_000
# More of a text is not looked at, and a longer one never counts as a repetition.
LONGEST = 256 * 1024


class Repetition:
    """The parts of the pages with queries that a client has read."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def found(self, url: str, text: str) -> bool:
        """Whether a page repeats others in every part, except for digits and the words of its own
        URL. Pages with less than two parameters are only remembered."""
        path, _, query = url.partition("?")
        if not query or len(text) > LONGEST:
            return False
        own = frozenset(_WORD.findall(query.lower()))
        home = path[: path.find("/", 8)]
        repeats = True
        for part in {*_BETWEEN.split(text.lower().translate(_SIGNS))}:
            if (exact := hash((home, part))) in self._seen:
                continue
            words = part.split()
            roughly = {hash((home, *words)), hash((home, *(word for word in words if word not in own)))}
            if self._seen.isdisjoint(roughly):
                repeats = False
            self._seen.add(exact)
            self._seen |= roughly
        if len(self._seen) > MOST_PARTS:
            self._seen.clear()
        return repeats and "&" in query
