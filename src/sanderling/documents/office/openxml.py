"""The text and links of Word and PowerPoint documents (DOCX, PPTX), and what they share with
workbooks."""

from posixpath import dirname, normpath, split
from posixpath import join as join_path
from typing import NamedTuple

from sanderling.documents.office.draft import DAMAGED, Draft
from sanderling.documents.office.package import Package, attribute, title_in
from sanderling.processes.sandboxed import ChildFailed

# What is written a second time for old programs, text at the place it was moved from, and fields
# such as the number of a slide.
_SKIPPED = {"Fallback", "moveFrom", "fld"}
_SIGNS = {"tab": " ", "noBreakHyphen": "-"}
_LINE_ENDS = {"p", "br", "cr"}


class Relation(NamedTuple):
    """Where a part of a document refers to."""

    id: str
    type: str  # the last word of its address
    target: str  # another part, or a URL
    external: bool


def read_docx(body: bytes, draft: Draft) -> None:
    package, main = opened(body, draft)
    _read_part(package, main, draft)
    for each in relations(package, main):
        if each.type in ("footnotes", "endnotes") and each.target in package:
            _read_part(package, each.target, draft)


def read_pptx(body: bytes, draft: Draft) -> None:
    package, main = opened(body, draft)
    slides = _Slides()
    package.parse(main, slides)
    parts = {each.id: each.target for each in relations(package, main)}
    for slide in slides.ids:
        if slide in parts:
            _read_part(package, parts[slide], draft)
            for each in relations(package, parts[slide]):
                if each.type == "notesSlide":
                    _read_part(package, each.target, draft)


def opened(body: bytes, draft: Draft) -> tuple[Package, str]:
    """A document and the name of its main part. Takes its title."""
    package = Package(body)
    draft.title = title_in(package, "docProps/core.xml")
    main = next((each.target for each in relations(package, "") if each.type == "officeDocument"), "")
    if not main:
        raise ChildFailed(DAMAGED)
    return package, main


def relations(package: Package, part: str) -> list[Relation]:
    """What a part refers to; for the part without a name, what the document consists of."""
    folder, name = split(part)
    listed = join_path(folder, "_rels", f"{name}.rels")
    handler = _Relations(dirname(part))
    if listed in package:
        package.parse(listed, handler)
    return handler.relations


def take_links(package: Package, part: str, draft: Draft) -> None:
    for each in relations(package, part):
        if each.type == "hyperlink" and each.external:
            draft.link(each.target)


def _read_part(package: Package, part: str, draft: Draft) -> None:
    take_links(package, part, draft)
    package.parse(part, _Paragraphs(draft))
    draft.end_line()


class _Relations:
    def __init__(self, folder: str) -> None:
        self.relations: list[Relation] = []
        self._folder = folder

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != "Relationship":
            return
        given = attributes.get
        target, external = given("Target", ""), given("TargetMode") == "External"
        if not external:
            target = normpath(join_path("/", self._folder, target)).lstrip("/")
        self.relations.append(Relation(given("Id", ""), given("Type", "").rpartition("/")[2], target, external))

    def end(self, tag: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Slides:
    """The slides of a presentation in their order, each once."""

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "sldId":
            self.ids[attribute(attributes, "id")] = None

    def end(self, tag: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Paragraphs:
    """The paragraphs of a document or slide, each a line, and the links of their fields."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._skipped = 0  # how deep inside what is skipped
        self._within = ""
        self._field = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag in ("t", "instrText"):
            self._within = tag
        elif tag in _LINE_ENDS:
            self._draft.end_line()
        elif tag in _SIGNS:
            self._draft.add(_SIGNS[tag])
        elif tag == "fldChar":  # a field begins, or its result, or it ends
            self._draft.field(self._field)
            self._field = ""
        elif tag == "fldSimple":
            self._draft.field(attribute(attributes, "instr"))

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in ("t", "instrText"):
            self._within = ""
        elif tag == "p":
            self._draft.end_line()

    def text(self, data: str) -> None:
        if self._skipped or not self._within:
            return
        if self._within == "t":
            self._draft.add(data)
        else:
            self._field += data
