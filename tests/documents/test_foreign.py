"""Office documents, also those made to harm their reader."""

import re
import resource
import zlib
from collections.abc import Callable, Iterator

import pytest

from sanderling.documents import foreign
from sanderling.documents.formats import Text, kind_of, read_xml
from sanderling.documents.office.draft import MOST_TEXT
from sanderling.documents.office.signatures import office_kind
from sanderling.documents.reading import document_of, visible_text
from sanderling.processes.sandboxed import ChildFailed, SandboxedChild
from sanderling.search.fulltext import full_text
from tests.papers import nested_forms, office_xml, opendocument, pdf, pdf_of, stream, word, workbook, zipped

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
MIB = 1024**2


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A child with less memory and time than usual, so that a test is short."""
    with SandboxedChild("read-document", 256 * MIB, 1.0) as child:
        monkeypatch.setattr(foreign, "_child", child)
        yield


def packed(part: bytes, times: int) -> bytes:
    """A long body that is never in memory as a whole."""
    packer = zlib.compressobj(1)
    return b"".join([*(packer.compress(part) for _ in range(times)), packer.flush()])


def docx(*parts: bytes) -> bytes:
    return office_xml("word/document.xml", parts)


def read_foreign(body: bytes) -> Text:
    return foreign.read(office_kind(body) or "bytes", body)


def test_pdf() -> None:
    read = read_foreign(pdf("Hello from a PDF", "http://e.org/linked"))
    assert "Hello from a PDF" in read.text
    assert read.links == ["http://e.org/linked"]
    with pytest.raises(ChildFailed, match="it is damaged or cut short"):
        read_foreign(b"%PDF-1.4 broken")


def test_docx() -> None:
    body = word("Hello from Word", "A title", "http://e.org/target")
    assert kind_of(body, "") == "docx"
    read = read_foreign(body)
    assert "Hello from Word" in read.text
    assert read.title == "A title"
    assert "http://e.org/target" in read.links
    with pytest.raises(ChildFailed, match="it is damaged or cut short"):
        read_foreign(body[:5000])


def page_of(content: bytes) -> bytes:
    return pdf_of(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        content,
    )


def deep_page_tree(depth: int) -> bytes:
    nodes = [b"<< /Type /Pages /Parent %d 0 R /Kids [%d 0 R] /Count 1 >>" % (n - 1, n + 1) for n in range(2, depth)]
    return pdf_of(CATALOG, *nodes, b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 9 9] >>" % (depth - 1))


ENTITIES = b'<!DOCTYPE x [<!ENTITY a0 "haha">' + b"".join(
    b'<!ENTITY a%d "%b">' % (n, b"&a%d;" % (n - 1) * 99) for n in range(1, 9)
)
HARMFUL = {
    "nested forms": lambda: nested_forms(24),
    "nested forms, broad": lambda: nested_forms(8, 40),
    "a long stream": lambda: page_of(stream(packed(b"(x) Tj " * 99_999, 400), b"/Filter /FlateDecode")),
    "a long text": lambda: page_of(stream(b"BT /F1 1 Tf " + b"(%b) Tj " % (b"x" * 1000) * 9_000 + b"ET")),
    "a deep page tree": lambda: deep_page_tree(50_000),
    "pages in a circle": lambda: pdf_of(CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2000000000 >>"),
    "a long object stream": lambda: pdf_of(
        CATALOG,
        stream(packed(bytes(MIB), 400), b"/Type /ObjStm /N 99999999 /First 9 /Filter /FlateDecode"),
    ),
    "Word, long": lambda: docx(*[b"<w:p/>" * 150_000] * 400),
    "Word, nested": lambda: docx(b"<w:p>" * 5_000_000),
    "Word, with entities": lambda: docx(ENTITIES, b"]><w:p><w:t>&a8;</w:t></w:p>"),
    "Word, one long name": lambda: docx(b"<", *[b"x" * MIB] * 100),
    "Excel, long": lambda: workbook([b"<sheetData>", *[b"<row><c><v>1</v></c></row>" * 40_000] * 100]),
    "Excel, one long string often": lambda: workbook(
        [b"<sheetData><row>", *[b'<c t="s"><v>0</v></c>' * 40_000] * 40],
        sharedStrings=b"<sst><si><t>%b</t></si></sst>" % (b"x" * MIB),
    ),
    "Excel, long strings": lambda: workbook(b"<x/>", sharedStrings=[b"<sst>", *[b"<si><t>x</t></si>" * 60_000] * 100]),
    "PowerPoint, one slide often": lambda: office_xml(
        "ppt/presentation.xml",
        [b'<p xmlns:r="r">', *[b'<sldId r:id="slide1"/>' * 40_000] * 30, b"</p>"],
        slide1=b"<p><t>%b</t></p>" % (b"x" * 9000),
    ),
    "PowerPoint, many slides": lambda: office_xml(
        "ppt/presentation.xml",
        b'<p xmlns:r="r">%b</p>' % b"".join(b'<sldId r:id="slide%d"/>' % n for n in range(50)),
        **{f"slide{n}": [b"<p><t>", *[b"x" * MIB] * 2, b"</t></p>"] for n in range(50)},
    ),
    "OpenDocument, long": lambda: opendocument([b"<x>", *[b"<p>x</p>" * 120_000] * 100]),
    "OpenDocument, nested": lambda: opendocument(b"<p>" * 5_000_000),
    "OpenDocument, with entities": lambda: opendocument(ENTITIES + b"]><p>&a8;</p>"),
    "OpenDocument, one cell repeated": lambda: opendocument(
        b'<x><spreadsheet><table><table-row n:number-rows-repeated="1048576" xmlns:n="n">'
        b'<table-cell n:number-columns-repeated="16384"><p>x</p></table-cell></table-row></table></spreadsheet></x>'
    ),
    "RTF, long": lambda: b"{\\rtf1 " + b"x\\par " * 2_000_000,
    "RTF, nested": lambda: b"{\\rtf1 " + b"{" * 15_000_000,
    "RTF, a long field": lambda: b"{\\rtf1{\\field{\\fldinst " + b"HYPERLINK " * 1_500_000,
    "many members": lambda: zipped({"_rels/.rels": b""} | {f"xl/{n}": b"" for n in range(50_000)}),
}


@pytest.mark.parametrize("make", HARMFUL.values(), ids=HARMFUL.keys())
@pytest.mark.usefixtures("strict")
def test_no_document_costs_more_than_its_limits(make: Callable[[], bytes]) -> None:
    """It is read, or refused with a reason. The parent process stays small, and the next document
    is read."""
    body = make()
    assert len(body) < 16 * MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        assert len(read_foreign(body).text) <= MOST_TEXT
    except ChildFailed as refused:
        assert re.match("the reader needed more than|it defines entities|it is damaged", str(refused))
    assert "after all" in read_foreign(pdf("read after all", "http://e.org/")).text
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 100 * MIB


@pytest.mark.usefixtures("strict")
def test_a_bomb_is_named_and_says_nothing_to_readers_of_the_archive() -> None:
    bomb = nested_forms(30)
    with pytest.raises(ChildFailed, match="the reader needed more than"):
        read_foreign(bomb)
    assert visible_text("http://e.org/", bomb, "application/pdf") == ""
    assert document_of("http://e.org/", bomb, "application/pdf") is None
    assert full_text("http://e.org/", bomb, [], None).text == ""


def test_xml_bombs_are_refused_in_place() -> None:
    """The HTML parser reads XML too. It knows only the entities of the HTML standard."""
    assert "haha" not in read_xml(ENTITIES + b"]><x>&a8;</x>", None).text
