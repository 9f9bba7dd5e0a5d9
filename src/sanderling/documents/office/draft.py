"""What is read of a document, line by line."""

import re
from typing import Final

from sanderling.documents.formats import Text

# At most this many characters and links are kept of a document.
MOST_TEXT: Final = 16 * 1024**2
MOST_LINKS: Final = 50_000

# Why a document cannot be read.
PROTECTED: Final = "a password protects it"
DAMAGED: Final = "it is damaged or cut short"

_FIELD_LINK = re.compile(r'\bHYPERLINK\s+(?:"([^"]+)"|([^\s"\\]\S*))')
_FORMULA_LINK = re.compile(r'\bHYPERLINK\(\s*"([^"]+)"')


class Enough(Exception):
    """More than this is not kept of a document."""


class Draft:
    """The text and the links of a document while it is read. A line is a paragraph or a row of
    cells."""

    def __init__(self) -> None:
        self.title = ""
        self._notes: Draft | None = None
        self._links: dict[str, None] = {}
        self._lines: list[str] = []
        self._cells: list[str] = []
        self._words: list[str] = []
        self._left = MOST_TEXT

    def add(self, words: str) -> None:
        self._words.append(words)
        self._left -= len(words)
        if self._left < 0:
            raise Enough

    def end_cell(self) -> None:
        if cell := " ".join("".join(self._words).split()):
            self._cells.append(cell)
        self._words.clear()

    def end_line(self) -> None:
        self.end_cell()
        if self._cells:
            self._lines.append("\t".join(self._cells))
            self._cells.clear()

    def link(self, href: str) -> None:
        if href and len(self._links) < MOST_LINKS:
            self._links[href] = None

    def field(self, instruction: str) -> None:
        """Takes the link of a field, as all formats of Word write it: HYPERLINK "address"."""
        if found := _FIELD_LINK.search(instruction):
            self.link(found[1] or found[2])

    def formula(self, formula: str) -> None:
        """Takes the links of a cell's formula: HYPERLINK("address", ...)."""
        for address in _FORMULA_LINK.findall(formula):
            self.link(address)

    @property
    def notes(self) -> "Draft":
        """Footnotes, which stand inside of paragraphs and come after all of them."""
        if self._notes is None:
            self._notes = Draft()
        return self._notes

    def text(self) -> Text:
        self.end_line()
        if self._notes is not None:
            self._notes.end_line()
            self._lines += self._notes._lines
            self._links |= self._notes._links
        title = " ".join(self.title.split())[:500]
        return Text(_whole("\n".join(self._lines)[:MOST_TEXT]), [*map(_whole, self._links)], _whole(title))


def _whole(text: str) -> str:
    """With characters in one that were written as two halves."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
