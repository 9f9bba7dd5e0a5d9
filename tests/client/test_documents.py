import io
import zipfile

import docx
import pytest

from sanderling.client.documents import decode, kind_of, read_docx, read_pdf, read_xml


def pdf(text: str, link: str) -> bytes:
    """A one-page PDF with a line of text and a link annotation."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (%b) >> >>" % link.encode(),
    ]
    out, places = io.BytesIO(b""), []
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, content))
    start = out.tell()
    out.write(b"xref\n0 7\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % p for p in places))
    out.write(b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start)
    return out.getvalue()


def word(text: str, title: str) -> bytes:
    document = docx.Document()
    document.core_properties.title = title
    document.add_paragraph(text)
    document.part.relate_to("http://e.org/target", docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("body", "mime", "kind"),
    [
        (b"<!doctype html><p>x", "text/html", "html"),
        (b"<html><p>x", "", "html"),
        (b"<?xml version='1.0'?><html xmlns='x'><p>x", "application/xhtml+xml", "html"),
        (b"<?xml version='1.0'?><rss/>", "application/rss+xml", "xml"),
        (b"<?xml version='1.0'?><rss/>", "", "xml"),
        (b"plain words", "text/plain", "text"),
        (b"<html> shown as source", "text/plain", "text"),
        (b"{}", "application/json", "text"),
        (b"%PDF-1.4", "text/html", "pdf"),
        (b"\x89PNG\r\n", "text/html", "bytes"),
        (bytes(range(32)) * 50, "text/html", "bytes"),
        (b"\x00\x01\x02", "application/octet-stream", "bytes"),
        (b"GIF89a", "image/gif", "bytes"),
        (b"<html><a href=x>", "image/png", "html"),
        (b"", "", "text"),
    ],
)
def test_kind_by_content(body: bytes, mime: str, kind: str) -> None:
    assert kind_of(body, mime) == kind


def test_pdf() -> None:
    read = read_pdf(pdf("Hello from a PDF", "http://e.org/linked"))
    assert "Hello from a PDF" in read.text
    assert read.links == ["http://e.org/linked"]
    assert read_pdf(b"%PDF-1.4 broken").text == ""


def test_docx() -> None:
    body = word("Hello from Word", "A title")
    assert kind_of(body, "") == "docx"
    read = read_docx(body)
    assert "Hello from Word" in read.text
    assert read.title == "A title"
    assert "http://e.org/target" in read.links
    assert read_docx(b"PK\x03\x04 word/ broken").text == ""


def test_docx_bomb_is_read_to_the_cap_only() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<w:p>" + b"x" * 200_000_000)
    assert len(read_docx(out.getvalue()).text) < 64 * 1024**2


def test_xml_reads_links_and_refuses_entities() -> None:
    feed = b"<rss><channel><title>News</title><item><link>http://e.org/1</link></item></channel></rss>"
    assert read_xml(feed, None).links == ["http://e.org/1"]
    assert read_xml(feed, None).title == "News"
    bomb = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert read_xml(bomb, None).text == ""
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
    assert "root" not in read_xml(outside, None).text
    assert read_xml(b"<a>" * 100_000, None).links == []


def test_decode_never_fails() -> None:
    assert decode(b"\xef\xbb\xbfx", "latin-1") == "x"
    assert decode(b"\xe9", "no-such") == "é"
    assert decode(b"\xff\xfea\x00", None) == "a"
    assert decode(b"abc\xff", "utf-8")
