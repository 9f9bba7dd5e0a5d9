"""The text and links of PDF and Word documents.

Their parsers take whatever time and memory a document makes them take, so both are used in a child
process only: see `documents/foreign.py`.
"""

import ctypes
import io
import zipfile

import pypdfium2
import pypdfium2.raw as c
import turbohtml

from sanderling.documents.formats import Text

# How much is read of a document: pages of a PDF, bytes unpacked of each part of a DOCX, characters
# and links of either.
PDF_PAGES = 300
DOCX_BYTES = 32 * 1024**2
MOST_TEXT = 16 * 1024**2
MOST_LINKS = 50_000


def read_pdf(body: bytes) -> Text:
    """Text and web links of a PDF."""
    texts: list[str] = []
    links: list[str] = []
    size = 0
    try:
        pdf = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return Text("", [], "")
    try:
        for number in range(min(len(pdf), PDF_PAGES)):
            page = pdf[number]
            textpage = page.get_textpage()
            texts.append(textpage.get_text_range())
            links += _pdf_links(pdf, page, textpage)
            textpage.close()
            page.close()
            size += len(texts[-1])
            if size > MOST_TEXT or len(links) > MOST_LINKS:
                break
        title = pdf.get_metadata_value("Title")
    except pypdfium2.PdfiumError:
        title = ""
    finally:
        pdf.close()
    return _text("\n".join(texts), links, title)


def _pdf_links(pdf: object, page: object, textpage: object) -> list[str]:
    """Link annotations of a page and addresses written out in its text."""
    found: list[str] = []
    position = ctypes.c_int(0)
    link = c.FPDF_LINK()
    while c.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
        action = c.FPDFLink_GetAction(link)
        if action and c.FPDFAction_GetType(action) == c.PDFACTION_URI:
            size = c.FPDFAction_GetURIPath(pdf, action, None, 0)
            buffer = ctypes.create_string_buffer(size)
            c.FPDFAction_GetURIPath(pdf, action, buffer, size)
            found.append(buffer.value.decode("utf-8", "replace"))
    weblinks = c.FPDFLink_LoadWebLinks(textpage)
    for index in range(c.FPDFLink_CountWebLinks(weblinks)):
        size = c.FPDFLink_GetURL(weblinks, index, None, 0)
        units = (ctypes.c_ushort * size)()
        c.FPDFLink_GetURL(weblinks, index, units, size)
        found.append(bytes(units).decode("utf-16-le", "replace").rstrip("\x00"))
    c.FPDFLink_CloseWebLinks(weblinks)
    return found


def read_docx(body: bytes) -> Text:
    """Text and hyperlinks of a Word document; a bomb is read only as far as the cap."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            main = _member(archive, "word/document.xml")
            relations = _member(archive, "word/_rels/document.xml.rels")
            core = _member(archive, "docProps/core.xml")
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        return Text("", [], "")
    paragraphs = []
    for paragraph in _xml_elements(main, "w:p"):
        paragraphs.append("".join(run.text for run in paragraph.find_all("w:t")))
    links = [
        e.attr("Target") or ""
        for e in _xml_elements(relations, "Relationship")
        if (e.attr("Type") or "").endswith("/hyperlink")
    ]
    titles = [e.text for e in _xml_elements(core, "dc:title")]
    return _text("\n".join(paragraphs), links, "".join(titles[:1]))


def _text(text: str, links: list[str], title: str) -> Text:
    return Text(text[:MOST_TEXT], [*dict.fromkeys(links)][:MOST_LINKS], " ".join(title.split())[:500])


def _member(archive: zipfile.ZipFile, name: str) -> str:
    if name not in archive.namelist():
        return ""
    with archive.open(name) as file:
        return file.read(DOCX_BYTES).decode("utf-8", "replace")


def _xml_elements(text: str, tag: str) -> list[turbohtml.Element]:
    if not text:
        return []
    try:
        return turbohtml.parse_xml(text).find_all(tag)
    except (turbohtml.HTMLParseError, ValueError):
        return []
