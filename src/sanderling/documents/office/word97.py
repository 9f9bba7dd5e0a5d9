"""The text and links of Word documents of the years 1997 to 2003 (.doc).

Such a document is an OLE file, which holds streams. The text is in the stream WordDocument, in
pieces. Where they are is listed in another stream. The numbers are those of [MS-DOC], the format's
public description.
"""

import io
import re
import struct
from collections.abc import Iterator

import olefile

from sanderling.documents.charsets import of_code_page
from sanderling.documents.office.draft import DAMAGED, MOST_TEXT, PROTECTED, Draft
from sanderling.processes.sandboxed import ChildFailed

_WORD_97 = 0xA5EC
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
# Where the header says how long each part of the text is, and where the pieces are listed.
_FLAGS_AT, _LENGTHS_AT, _PIECES_AT = 0x0A, 0x4C, 0x1A2
_NARROW = 1 << 30  # a piece of one byte per character
_LINE_ENDS = "\r\x07\x0b\x0c\x0e"
_FIELD, _RESULT, _FIELD_END = "\x13\x14\x15"
_MARK = re.compile(f"[{_FIELD}{_RESULT}{_FIELD_END}{_LINE_ENDS}]")
_SIGNS = {code: None for code in range(32) if code != 9} | {0x1E: "-"}


def read_ole(body: bytes, draft: Draft) -> None:
    try:
        with olefile.OleFileIO(io.BytesIO(body)) as file:
            if file.exists("EncryptedPackage"):
                raise ChildFailed(PROTECTED)
            document = file.openstream("WordDocument").read()
            if _u16(document, 0) != _WORD_97:
                raise ChildFailed("documents of Word 95 and before are not read")
            flags = _u16(document, _FLAGS_AT)
            if flags & _ENCRYPTED:
                raise ChildFailed(PROTECTED)
            table = file.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
            draft.title = _title(file)
    except (OSError, struct.error):
        raise ChildFailed(DAMAGED) from None
    for part in _parts(document, table):
        _read_part(part, draft)
        draft.end_line()


def _u16(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<H", data, at)[0])


def _title(file: olefile.OleFileIO) -> str:
    try:
        properties = file.get_metadata()
        title = properties.title or b""
        if isinstance(title, str):
            return title
        return str(title.decode(of_code_page((properties.codepage or 1252) & 0xFFFF), "replace"))
    except Exception:  # whatever is wrong with its properties, the text may be read
        return ""


def _parts(document: bytes, table: bytes) -> Iterator[str]:
    """The main text, footnotes, endnotes and drawings. They follow each other in the pieces, with
    other parts between them."""
    try:
        text = b"".join(_pieces(document, table))
        main, notes, headers, macros, comments, ends, drawings = struct.unpack_from("<7I", document, _LENGTHS_AT)
    except struct.error:
        raise ChildFailed(DAMAGED) from None
    before = main + notes + headers + macros + comments
    for start, length in ((0, main), (main, notes), (before, ends), (before + ends, drawings)):
        yield text[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def _pieces(document: bytes, table: bytes) -> Iterator[bytes]:
    """The pieces of the text in UTF-16."""
    at, size = struct.unpack_from("<2I", document, _PIECES_AT)
    end = min(at + size, len(table))
    while at < end and table[at] == 1:  # formatting
        at += 3 + _u16(table, at + 1)
    if at >= end or table[at] != 2:
        raise ChildFailed(DAMAGED)
    (size,) = struct.unpack_from("<I", table, at + 1)
    count, at = (size - 4) // 12, at + 5
    if count < 0 or at + size > len(table):
        raise ChildFailed(DAMAGED)
    starts = struct.unpack_from(f"<{count + 1}I", table, at)
    left = MOST_TEXT
    for index in range(count):
        (place,) = struct.unpack_from("<I", table, at + 4 * (count + 1) + 8 * index + 2)
        length = starts[index + 1] - starts[index]
        if length < 0 or left <= 0:
            break
        length = min(length, left)
        left -= length
        if place & _NARROW:
            first = (place & ~_NARROW) // 2
            yield document[first : first + length].decode("cp1252", "replace").encode("utf-16-le")
        else:
            yield document[place : place + 2 * length]


def _read_part(text: str, draft: Draft) -> None:
    """Takes the lines of a text. In a field, what stands before its result is an instruction."""
    fields: list[list[str] | None] = []  # the instruction of each open field; None in its result
    instructions = 0  # how many of them are being read
    at = 0
    for mark in (*_MARK.finditer(text), None):
        words = text[at : mark.start() if mark else len(text)]
        if not instructions:
            draft.add(words.translate(_SIGNS))
        elif fields[-1] is not None:
            fields[-1].append(words)
        if mark is None:
            break
        at, sign = mark.end(), mark[0]
        if sign == _FIELD:
            fields.append([])
            instructions += 1
        elif sign in _LINE_ENDS:
            draft.end_line()
        elif fields:
            if (instruction := fields.pop()) is not None:
                draft.field("".join(instruction))
                instructions -= 1
            if sign == _RESULT:
                fields.append(None)
