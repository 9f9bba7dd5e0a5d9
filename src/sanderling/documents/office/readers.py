"""The registry of document formats: a reader for each, which gets the bytes and writes into a
`Draft`. An installed package may offer others, by media type (`docs/doors.md`)."""

from collections.abc import Callable
from contextlib import suppress

from sanderling import plugins
from sanderling.documents.formats import Text
from sanderling.documents.office.draft import DAMAGED, Draft, Enough
from sanderling.documents.office.opendocument import read_odf
from sanderling.documents.office.openxml import read_docx, read_pptx
from sanderling.documents.office.pdf import read_pdf
from sanderling.documents.office.rtf import read_rtf
from sanderling.documents.office.word97 import read_ole
from sanderling.documents.office.workbook import read_xlsx
from sanderling.processes.sandboxed import ChildFailed

READERS: dict[str, Callable[[bytes, Draft], None]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "xlsx": read_xlsx,
    "pptx": read_pptx,
    "odf": read_odf,
    "rtf": read_rtf,
    "ole": read_ole,
}


def read(kind: str, body: bytes) -> Text:
    """The text and links of a document, as far as they are kept. Raises ChildFailed with the reason
    for one that cannot be read."""
    draft = Draft()
    reader = READERS.get(kind) or plugins.installed(plugins.DOCUMENT_FORMATS, kind)
    if reader is None:
        raise ChildFailed("nothing reads this format")
    try:
        with suppress(Enough):
            reader(body, draft)
    except (ChildFailed, MemoryError):
        raise
    except Exception as error:  # a parser may raise anything at all for a broken file
        raise ChildFailed(f"{DAMAGED} ({type(error).__name__})") from None
    return draft.text()
