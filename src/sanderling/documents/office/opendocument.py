"""The text and links of OpenDocument files: ODT, ODS, ODP and their templates."""

from sanderling.documents.office.draft import PROTECTED, Draft
from sanderling.documents.office.package import Package, attribute, title_in
from sanderling.processes.sandboxed import ChildFailed

_MANIFEST = "META-INF/manifest.xml"
# Comments, deleted text, and numbers that change when something else does.
_SKIPPED = {"annotation", "tracked-changes", "note-citation", "page-number", "page-count"}
_SPACES = {"s", "tab"}
_LINE_ENDS = {"p", "h", "line-break"}


def read_odf(body: bytes, draft: Draft) -> None:
    package = Package(body)
    if _MANIFEST in package:
        package.parse(_MANIFEST, _Manifest())
    draft.title = title_in(package, "meta.xml")
    package.parse("content.xml", _Content(draft))


class _Manifest:
    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "encryption-data":
            raise ChildFailed(PROTECTED)

    def end(self, tag: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Content:
    """A paragraph is a line, and so is a row of a spreadsheet."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._aside = draft.notes
        self._skipped = 0  # how deep inside what is skipped
        self._paragraphs = 0
        self._rows = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag in _LINE_ENDS:
            self._paragraphs += tag != "line-break"
            self._separate()
        elif tag in _SPACES:
            self._draft.add(" ")
        elif tag == "a":  # the document counts as a folder, in which the link is
            self._draft.link(attribute(attributes, "href").removeprefix("../"))
        elif tag == "note-body":
            self._draft, self._aside = self._aside, self._draft
        elif tag == "table-cell":
            self._draft.formula(attribute(attributes, "formula"))
        elif tag == "spreadsheet":
            self._rows = True
        elif tag == "table" and self._rows:
            self._draft.add(attribute(attributes, "name"))
            self._draft.end_line()

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in ("p", "h"):
            self._paragraphs -= 1
            self._separate()
        elif tag == "note-body":
            self._draft.end_line()
            self._draft, self._aside = self._aside, self._draft
        elif tag in ("table-cell", "covered-table-cell") and self._rows:
            self._draft.end_cell()
        elif tag == "table-row" and self._rows:
            self._draft.end_line()

    def text(self, data: str) -> None:
        if self._paragraphs and not self._skipped:
            self._draft.add(data)

    def _separate(self) -> None:
        if self._rows:
            self._draft.add(" ")
        else:
            self._draft.end_line()
