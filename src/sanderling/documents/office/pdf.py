"""The text and web links of PDF documents."""

import ctypes

import pypdfium2
import pypdfium2.raw as c

from sanderling.documents.office.draft import DAMAGED, PROTECTED, Draft
from sanderling.processes.sandboxed import ChildFailed

# At most this many pages are read.
PDF_PAGES = 300


def read_pdf(body: bytes, draft: Draft) -> None:
    try:
        pdf = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise ChildFailed(PROTECTED if "password" in str(error).lower() else DAMAGED) from None
    try:
        draft.title = pdf.get_metadata_value("Title")
        for number in range(min(len(pdf), PDF_PAGES)):
            page = pdf[number]
            textpage = page.get_textpage()
            for line in textpage.get_text_range().splitlines():
                draft.add(line)
                draft.end_line()
            for link in _pdf_links(pdf, page, textpage):
                draft.link(link)
            textpage.close()
            page.close()
    except pypdfium2.PdfiumError:
        pass  # what was read before counts
    finally:
        pdf.close()


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
