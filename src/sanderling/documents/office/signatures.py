"""Recognises documents of office programs by their content."""

import re
from itertools import islice
from typing import Final, Literal

OfficeKind = Literal["pdf", "docx", "xlsx", "pptx", "odf", "rtf", "ole"]

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# How every office document begins, and some files that are none.
MAGIC: Final = (b"%PDF-", _ZIP, b"{\\rtf", _OLE)

# The main folder of an Office Open XML document.
_FOLDERS: Final[dict[bytes, OfficeKind]] = {b"word/": "docx", b"xl/": "xlsx", b"ppt/": "pptx"}
_OPEN_XML: Final = re.compile(rb"\[Content_Types\]|_rels/|docProps/")
_MEMBER: Final = re.compile(rb"(?:word|xl|ppt)/")
# Streams of an OLE file: the text of a Word document, and a document that a password protects.
_STREAMS: Final = tuple(name.encode("utf-16-le") for name in ("WordDocument", "EncryptedPackage"))
# Where a zip file lists its members: a record at the end says where the list begins.
_END: Final = b"PK\x05\x06"
_LONGEST_END = 22 + 0xFFFF
_HEADER: Final = re.compile(rb"PK\x03\x04.{26}(.{19})", re.DOTALL)  # with the beginning of a name
_MOST_HEADERS = 1000
_LONGEST_LIST = 1 << 20


def office_kind(body: bytes) -> OfficeKind | None:
    """The format of an office document; None for anything else."""
    if body.startswith(b"%PDF-"):
        return "pdf"
    if body.startswith(b"{\\rtf"):
        return "rtf"
    if body.startswith(_OLE):
        return "ole" if any(name in body for name in _STREAMS) else None
    return _in_zip(body) if body.startswith(_ZIP) else None


def _in_zip(body: bytes) -> OfficeKind | None:
    members = _members(body)
    if b"mimetypeapplication/vnd.oasis.opendocument." in body[:200]:
        return "odf"
    if _OPEN_XML.search(members):
        found = _MEMBER.search(members)
        return _FOLDERS[found[0]] if found else None
    return "odf" if b"META-INF/manifest.xml" in members and b"content.xml" in members else None


def _members(body: bytes) -> bytes:
    """What has the names of the members of a zip file: the list at its end, or their headers if it
    was cut short."""
    end = body.rfind(_END, max(0, len(body) - _LONGEST_END))
    if end < 0:
        return b" ".join(header[1] for header in islice(_HEADER.finditer(body), _MOST_HEADERS))
    start = int.from_bytes(body[end + 16 : end + 20], "little")
    return body[start : min(end, start + _LONGEST_LIST)]
