"""A reader for each format of office documents."""

from collections.abc import Callable
from contextlib import suppress

from sanderling.documents.formats import Text
from sanderling.documents.office.draft import DAMAGED, Draft, Enough
from sanderling.documents.office.opendocument import read_odf
from sanderling.documents.office.openxml import read_docx, read_pptx
from sanderling.documents.office.pdf import read_pdf
from sanderling.documents.office.rtf import read_rtf
from sanderling.documents.office.signatures import OfficeKind, office_kind
from sanderling.documents.office.word97 import read_ole
from sanderling.documents.office.workbook import read_xlsx
from sanderling.processes.sandboxed import ChildFailed

READERS: dict[OfficeKind, Callable[[bytes, Draft], None]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "xlsx": read_xlsx,
    "pptx": read_pptx,
    "odf": read_odf,
    "rtf": read_rtf,
    "ole": read_ole,
}


def read(body: bytes) -> Text:
    """The text and links of a document, as far as they are kept. Raises ChildFailed with the reason
    for one that cannot be read."""
    kind, draft = office_kind(body), Draft()
    if kind is None:
        raise ChildFailed("it is no office document")
    try:
        with suppress(Enough):
            READERS[kind](body, draft)
    except (ChildFailed, MemoryError):
        raise
    except Exception as error:  # a parser may raise anything at all for a broken file
        raise ChildFailed(f"{DAMAGED} ({type(error).__name__})") from None
    return draft.text()
