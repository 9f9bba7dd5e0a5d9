"""What is read of office documents: files that other programs made, and the corners of each
format."""

import struct
from pathlib import Path

import pytest

from sanderling.documents import foreign
from sanderling.documents.formats import Text, kind_of
from sanderling.documents.office import draft, package, readers, word97
from sanderling.documents.office.draft import MOST_TEXT
from sanderling.documents.office.signatures import office_kind
from sanderling.processes.sandboxed import ChildFailed
from tests.papers import LINK, LONG_LINK, PAPERS, READABLE, office_xml, opendocument, paper, pdf_of, workbook, zipped


def read(body: bytes) -> Text:
    return readers.read(office_kind(body) or "none", body)


TIDES = """\
Tide tables of the bay
The curlew feeds at low tide and sleeps at high tide.
Kept words stay.
Čeština: žluťoučký kůň. Русский: прилив. 日本語: 干潮。 € – “quoted” 🐦
First item
Second item
broken
Whimbrel Point
3.4 m
See the bay and more.
Footnote: so does the dunlin
Endnote: mostly
""".splitlines()


@pytest.mark.parametrize("name", READABLE)
def test_files_of_other_programs_are_read_in_the_child(name: str) -> None:
    body = paper(name)
    kind = kind_of(body, "application/octet-stream")
    found = foreign.read(kind, body)
    assert {LINK, LONG_LINK} <= set(found.links)
    assert "curlew" in found.text
    assert found.title in ("Tides & birds", "Counts & waders", "Waders & more")


@pytest.mark.parametrize("suffix", ["odt", "docx", "rtf", "doc"])
def test_one_text_in_four_formats(suffix: str) -> None:
    """Headers, comments and deleted words are left out. Where a box stands is up to the format."""
    text = read(paper(f"tides.{suffix}")).text.replace("DELETED", "" if suffix == "doc" else "DELETED")
    lines = text.split("\n")
    lines.remove("Words in a box")
    assert lines == TIDES


def test_rows_of_sheets_are_lines() -> None:
    """The value of a formula is read, not computed, and the program that made the first file has
    stored none."""
    rows = "Counts|Bird\tDay\tCount|The curlew\t2024-05-01\t12{}|Žluna zelená\t2024-05-02 {}6:30:00\t7.5"
    ends = "|Remarks|Windy & cold|TRUE"
    assert read(paper("counts.xlsx")).text.replace("\n", "|") == rows.format("", "0") + ends
    assert read(paper("counts.ods")).text.replace("\n", "|") == rows.format("\tmore", "") + ends
    for name in ("counts.xlsx", "counts.ods"):
        assert "http://e.org/by-formula" in read(paper(name)).links


@pytest.mark.parametrize("name", ["waders.pptx", "waders.odp"])
def test_slides_are_in_order_and_followed_by_their_notes(name: str) -> None:
    assert read(paper(name)).text.split("\n") == [
        "First slide: Русский", "the bay more", "Whimbrel Point", "3.4 m", "Waders", "The curlew", "The dunlin",
        "Speak of the whimbrel",
    ]  # fmt: skip


def refused(body: bytes) -> str:
    with pytest.raises(ChildFailed) as raised:
        read(body)
    return str(raised.value)


def test_what_cannot_be_read_says_why() -> None:
    protected = b'<m xmlns:x="x"><x:encryption-data/></m>'
    locked = pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [] /Count 0 >>",
        b"<< /Filter /Standard /V 1 /R 2 /P -4 /O (%b) /U (%b) >>" % (b"x" * 32, b"y" * 32),
    ).replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 3 0 R /ID [(x) (x)]")
    flagged = bytearray(paper("tides.doc"))
    flagged[flagged.index(b"\xec\xa5") + 11] |= 1
    password = "a password protects it"
    assert refused(paper("protected.xlsx")) == password
    assert refused(locked) == password
    assert refused(bytes(flagged)) == password
    assert refused(zipped({"content.xml": b"<p/>", "META-INF/manifest.xml": protected})) == password
    assert refused(office_xml("xl/workbook.bin", b"\x83\x01")) == "binary workbooks (XLSB) are not read"
    assert "Word 95" in refused(paper("tides.doc").replace(b"\xec\xa5", b"\xdc\xa5"))
    flagged[flagged.index(b"\xec\xa5") + 11] ^= 3  # it now names a stream that is not there
    assert refused(bytes(flagged)) == "it is damaged or cut short"
    for name in READABLE:
        if paper(name).startswith(b"PK"):
            assert refused(paper(name)[:-2000]) == "it is damaged or cut short"
    assert refused(zipped({"_rels/.rels": b"<x/>", "word/document.xml": b"<x/>"})) == "it is damaged or cut short"


def rtf(content: str, head: str = "") -> Text:
    return read(f"{{\\rtf1\\ansi{head} {content}}}".encode("latin-1"))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (r"caf\'e9 \u8364?\u-10179?\u-9158? \{\\\}", "café €🐺 {\\}"),
        (r"\uc2\u8364 ab\uc0\u8364\uc1\u8364?.", "€€€."),
        (r"\uc1{\uc2\u8364 ab}\u8364 a.", "€€."),
        (r"\u8364\'80.", "€."),
        (r"one\par two\line three\
four\tab five", "one\ntwo\nthree\nfour five"),
        (r"a\~b\_c\-d\emdash e\rquote s", "a b-cd\u2014e\u2019s"),
        (r"seen{\v hidden}{\deleted gone} {\*\unknown {x}y}{\pict 00ff}{\header h}{\listtext 1.}also", "seen also"),
        (r"{\stylesheet{\s0 Normal;}}{\colortbl;\red0;}body", "body"),
        (r"before{\bin5 }}{{}after", "beforeafter"),
        ("wr\r\napped\r\n line", "wrapped line"),
        (r"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt drawn}}{\shprslt old}}", "drawn"),
        (r"unbalanced } } } words", "unbalanced words"),
        (r"a lone \u-10179?surrogate", "a lone \ufffdsurrogate"),
        (r"cut short \'4", "cut short 4"),
    ],
)  # fmt: skip
def test_rtf(content: str, text: str) -> None:
    assert rtf(content).text == text


def test_rtf_code_pages_of_documents_and_fonts() -> None:
    assert rtf(r"\'e8\'e4", r"\ansicpg1250").text == "čä"
    assert rtf(r"\'e8", r"\ansicpg99999").text == "è"
    fonts = r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}}"
    assert rtf(rf"{fonts}\f0\'e9 {{\f1\'ef\'f0}} {{\f2\'93\'fa\'96\'7b}}\'e9").text == "é пр 日本é"


def test_rtf_links_and_title() -> None:
    field = r"{\field{\*\fldinst{ HYPERLINK %s }}{\fldrslt shown}}"
    found = rtf(
        r"{\info{\title Of \'e9tudes}{\author nobody}}"
        + field % '"http://e.org/?a=1&b=2"'
        + field % r'\\l "inside"'
        + field % "http://e.org/plain"
        + r"{\field{\*\fldinst PAGE}{\fldrslt 7}}"
    )
    assert found == ("shownshownshown7", ["http://e.org/?a=1&b=2", "http://e.org/plain"], "Of études")


def test_word_leaves_out_what_is_written_twice() -> None:
    body = (
        b'<w:p xmlns:w="w"><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r><w:del><w:delText>gone</w:delText></w:del>'
        b"<w:moveFrom><w:t>moved</w:t></w:moveFrom><Choice><w:p><w:t>box</w:t></w:p></Choice>"
        b"<Fallback><w:p><w:t>box</w:t></w:p></Fallback>"
        b'<w:fldChar/><w:instrText>HYPER</w:instrText><w:instrText>LINK "http://e.org/a"</w:instrText><w:fldChar/>'
        b"<w:fldSimple w:instr=' HYPERLINK \"http://e.org/b\" '><w:t>shown</w:t></w:fldSimple></w:p>"
    )
    assert read(office_xml("word/document2.xml", body)) == (
        "one two\nbox\nshown", ["http://e.org/a", "http://e.org/b"], "",
    )  # fmt: skip


def test_cells_show_what_they_mean() -> None:
    sheet = (
        b'<x:worksheet xmlns:x="x"><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c t="s"><x:v>9</x:v></x:c>'
        b'<x:c t="inlineStr"><x:is><x:t>in</x:t><x:t>line</x:t></x:is></x:c><x:c t="b"><x:v>0</x:v></x:c>'
        b'<x:c s="1"><x:v>1</x:v></x:c><x:c s="1"><x:v>0.5</x:v></x:c><x:c s="2"><x:v>0.5</x:v></x:c>'
        b'<x:c s="1"><x:v>9e99</x:v></x:c><x:c s="0"><x:v>45000</x:v></x:c><x:c t="str"><x:f>A1</x:f><x:v>made</x:v></x:c>'
        b'<x:c t="e"><x:v>#N/A</x:v></x:c></x:row></x:worksheet>'
    )
    strings = b"<sst><si><r><t>sha</t></r><r><t>red</t></r><rPh><t>spoken</t></rPh></si></sst>"
    styles = (
        b'<s><numFmts><numFmt numFmtId="170" formatCode="d. mmm yyyy"/><numFmt numFmtId="171" formatCode="[Red]0 &quot;days&quot;"/>'
        b'</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
        b'<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></s>'
    )
    rows = read(workbook(sheet, sharedStrings=strings, styles=styles)).text.split("\n")
    assert rows == ["One", "shared\t9\tinline\tFALSE\t1899-12-31\t12:00:00\t0.5\t9e99\t45000\tmade\t#N/A"]


def test_links_of_opendocument_start_inside_of_the_document() -> None:
    body = b'<x xmlns:l="l"><p>a<a l:href="../b.html">b</a><note><note-citation>1</note-citation></note></p></x>'
    found = read(opendocument(body, meta=b"<m><title>T</title></m>"))
    assert found == ("ab", ["b.html"], "T")


def test_pieces_of_word_may_overlap_but_do_not_multiply() -> None:
    """Each of 1,000 pieces is the whole of a megabyte."""
    count, size = 1000, 1 << 20
    table = (
        b"\x02" + struct.pack("<I", 12 * count + 4) + struct.pack(f"<{count + 1}I", *range(0, size * (count + 1), size))
    )
    table += struct.pack("<HIH", 0, 1 << 30, 0) * count
    document = bytearray(b"x" * size)
    struct.pack_into("<2I", document, 0x1A2, 0, len(table))
    assert sum(map(len, word97._pieces(bytes(document), table))) == 2 * MOST_TEXT


def test_the_beginning_of_a_long_document_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both limits are far below those of the child, and do not depend on how fast it is."""
    rows = b"<x><sheetData>%b</sheetData></x>" % b"".join(b"<row><c><v>%d</v></c></row>" % n for n in range(100_000))
    monkeypatch.setattr(package, "UNPACKED", 1 << 20)
    cut = read(workbook(rows)).text.split("\n")
    assert 30_000 < len(cut) < 100_000 and cut[:3] == ["One", "0", "1"]
    monkeypatch.setattr(package, "UNPACKED", 1 << 30)
    monkeypatch.setattr(draft, "MOST_TEXT", 5000)
    often = b"<x><row>%b</row></x>" % (b'<c t="s"><v>0</v></c>' * 1000)
    assert len(read(workbook(often, sharedStrings=b"<sst><si><t>%b</t></si></sst>" % (b"x" * 1000))).text) <= 5000
    for name in READABLE:
        monkeypatch.setattr(draft, "MOST_TEXT", 60)
        assert 40 < len(read(paper(name)).text) <= 60


def test_every_paper_is_small_and_listed() -> None:
    listed = (PAPERS / "README.md").read_text()
    for path in Path(PAPERS).iterdir():
        assert path.stat().st_size < 25_000
        assert path.name == "README.md" or f"`{path.name}`" in listed
