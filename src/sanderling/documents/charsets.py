"""From bytes to text: by byte-order mark, by what is declared, else as it looks."""

import codecs
import re

from sanderling.documents.tree import (
    detect,  # brings the codecs named whatwg-*: a page may name those, not any of Python's
)

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
# The labels that the Encoding Standard gives to UTF-16.
_WIDE = {
    **dict.fromkeys(
        ("utf-16", "utf-16le", "unicode", "ucs-2", "csunicode", "iso-10646-ucs-2", "unicodefeff"), "utf-16le"
    ),
    **dict.fromkeys(("utf-16be", "unicodefffe"), "utf-16be"),
}
# How UTF-16 begins, by its first two bytes: with a mark, or with an XML declaration.
_WIDE_STARTS = {
    start[:2]: (start, name)
    for start, name in (*_MARKS[1:], (b"<\x00?\x00x\x00", "utf-16le"), (b"\x00<\x00?\x00x", "utf-16be"))
}
_XML_ENCODING = re.compile(rb"""<\?xml[^>]{0,100}\sencoding\s*=\s*["']([A-Za-z][\w.-]{0,39})""")


def wide_charset(body: bytes, charset: str | None = None) -> str | None:
    """Which UTF-16 it is, if it is any: by how it begins, or else by what is declared outside."""
    start, name = _WIDE_STARTS.get(body[:2], (b"", ""))
    if name and body.startswith(start):
        return name
    return _WIDE.get(charset.strip().lower()) if charset and not body.startswith(_MARKS[0][0]) else None


def xml_charset(body: bytes) -> str | None:
    """The charset that the first line of an XML document names, or that it is written in."""
    found = _XML_ENCODING.match(body)
    if found is None:
        return wide_charset(body)
    # In UTF-16 that line could not have been read.
    return "utf-8" if found[1].lower().startswith(b"utf-16") else found[1].decode()


def decode(body: bytes, charset: str | None) -> str:
    """Text of bytes by BOM, declared charset, then UTF-8 or the detected one; never fails."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    try:
        return body.decode(f"whatwg-{charset}") if charset else body.decode()
    except (UnicodeDecodeError, LookupError):
        return body.decode(f"whatwg-{detect(body[:65536]).encoding or 'utf-8'}")


def of_code_page(number: int) -> str:
    """The codec of a code page of Windows; its most usual one if there is none."""
    name = {65001: "utf-8", 10000: "mac_roman"}.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
