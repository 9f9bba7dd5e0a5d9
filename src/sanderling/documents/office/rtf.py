"""The text and links of RTF documents.

RTF is a stream of control words, escaped bytes and groups in braces. A group inherits the state of
the group around it. Some groups are no text ("destinations"): tables of fonts, pictures, data of
programs.
"""

import re
from typing import Final, NamedTuple

from sanderling.documents.charsets import of_code_page
from sanderling.documents.office.draft import Draft

_TOKEN: Final = re.compile(
    rb"\\(?:([A-Za-z]{1,32})(-?[0-9]{1,10})? ?|'([0-9A-Fa-f]{2})|([^A-Za-z]))|([{}])|([^\\{}]+)", re.DOTALL
)
# What is no text of the document, besides what starts with \*. Numbers of lists are not written by
# anybody: one new item would change all of them.
_SKIPPED: Final = {
    b"colortbl", b"stylesheet", b"pict", b"objdata", b"nonshppict", b"header", b"headerl", b"headerr", b"headerf",
    b"footer", b"footerl", b"footerr", b"footerf", b"xe", b"tc", b"rxe", b"txe", b"listtable", b"revtbl", b"filetbl",
    b"themedata", b"datastore", b"latentstyles", b"pgdsctbl", b"fldtype", b"annotation", b"atnid", b"atnauthor", b"info",
    b"listtext", b"pntext", b"sn", b"sv", b"shprslt",
}  # fmt: skip
# What is text although it starts with \*: that of a drawing, and what some programs mark so.
_OPTIONAL_TEXT: Final = {b"shpinst", b"footnote"}
_LINE_ENDS: Final = {b"par", b"line", b"row", b"cell", b"nestcell", b"nestrow", b"sect", b"page", b"column"}
_SIGNS: Final = {
    b"tab": " ", b"emdash": "\u2014", b"endash": "\u2013", b"bullet": "\u2022", b"lquote": "\u2018", b"rquote": "\u2019",
    b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
    b"~": " ", b"_": "-",
}  # fmt: skip
_CHARSETS: Final = {
    b"ansi": "cp1252", b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850",
}  # fmt: skip
# The character set of a font says how its bytes are to be read.
_FONT_CHARSETS: Final = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    255: "cp850",
}  # fmt: skip
_NOWHERE, _BODY, _NOTE, _FONTS, _TITLE, _FIELD = range(6)


class _Group(NamedTuple):
    """The state of a group."""

    goes: int = _BODY  # where its text goes
    hidden: bool = False
    charset: str = ""  # of its font; empty for that of the document
    stands_for: int = 1  # how many characters after a Unicode character are its substitute


def read_rtf(body: bytes, draft: Draft) -> None:
    _Reader(draft).read(body)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._charset = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0  # of which the table of fonts is speaking
        self._group = _Group()
        self._around: list[_Group] = []
        self._bytes = bytearray()  # of one character set; a character may be two of them
        self._field: list[str] = []
        self._left_out = 0  # characters that are substitutes of a Unicode character
        self._optional = False  # \* was read: who does not know the next word skips the group

    def read(self, body: bytes) -> None:
        at = 0
        while found := _TOKEN.match(body, at):
            at = found.end()
            word, number, byte, sign, brace, text = found.groups()
            if text is not None:
                self._take(text.translate(None, b"\r\n\x00"))
            elif word is not None:
                if word == b"bin":
                    at += max(0, int(number or 0))
                self._word(word, None if number is None else int(number))
            elif byte is not None:
                self._take(bytes.fromhex(byte.decode()))
            elif brace is not None:
                self._flush()
                self._left_out = 0
                self._open() if brace == b"{" else self._close()
            elif sign == b"*":
                self._optional = True
            elif sign in b"\\{}":
                self._take(sign)
            elif sign in b"\r\n":
                self._word(b"par", None)
            elif sign in _SIGNS:
                self._say(_SIGNS[sign])
        self._flush()

    def _open(self) -> None:
        self._around.append(self._group)

    def _close(self) -> None:
        if self._around:
            ended, self._group = self._group, self._around.pop()
            if ended.goes == _FIELD != self._group.goes:
                self._draft.field("".join(self._field))
                self._field.clear()
            elif ended.goes == _NOTE != self._group.goes:
                self._draft.notes.end_line()
        self._optional = False

    def _word(self, word: bytes, number: int | None) -> None:
        group, optional, self._optional = self._group, self._optional, False
        if word == b"u":
            self._unicode(number or 0)
            return
        self._flush()
        if word == b"fldinst":
            self._group = group._replace(goes=_FIELD if group.goes in (_BODY, _NOTE) else _NOWHERE)
        elif (optional and word not in _OPTIONAL_TEXT) or word in _SKIPPED:
            self._group = group._replace(goes=_NOWHERE)
        elif word in _LINE_ENDS:
            if group.goes in (_BODY, _NOTE):
                (self._draft if group.goes == _BODY else self._draft.notes).end_line()
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif word == b"uc":
            self._group = group._replace(stands_for=max(0, number if number is not None else 1))
        elif word == b"f":
            self._set_font(number or 0)
        elif word in (b"v", b"deleted"):
            self._group = group._replace(hidden=number != 0)
        elif word == b"plain":
            self._group = group._replace(hidden=False, charset="")
        elif word == b"fonttbl":
            self._group = group._replace(goes=_FONTS)
        elif word == b"fcharset":
            if group.goes == _FONTS:
                self._fonts[self._font] = _FONT_CHARSETS.get(number or 0, "")
        elif word == b"title":
            self._group = group._replace(goes=_TITLE)
        elif word == b"footnote":
            self._group = group._replace(goes=_NOTE)
        elif word in _CHARSETS:
            self._charset = _CHARSETS[word]
        elif word == b"ansicpg":
            self._charset = of_code_page(number or 1252)

    def _set_font(self, number: int) -> None:
        if self._group.goes == _FONTS:
            self._font = number
        else:
            self._group = self._group._replace(charset=self._fonts.get(number, ""))

    def _unicode(self, number: int) -> None:
        self._flush()
        self._say(chr(number & 0xFFFF))
        self._left_out = self._group.stands_for

    def _take(self, text: bytes) -> None:
        """Takes bytes of the document's or the font's character set."""
        if self._left_out:
            left_out = min(self._left_out, len(text))
            self._left_out -= left_out
            text = text[left_out:]
        if text and self._group.goes != _NOWHERE:
            self._bytes += text

    def _flush(self) -> None:
        if self._bytes:
            said = self._bytes.decode(self._group.charset or self._charset, "replace")
            self._bytes.clear()
            self._say(said)

    def _say(self, text: str) -> None:
        if self._bytes:
            self._flush()
        goes = self._group.goes
        if goes == _BODY and not self._group.hidden:
            self._draft.add(text)
        elif goes == _NOTE:
            self._draft.notes.add(text)
        elif goes == _TITLE:
            self._draft.title += text
        elif goes == _FIELD:
            self._field.append(text)
