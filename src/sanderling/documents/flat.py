"""Pages that are simple enough are read in one pass over their bytes, without a tree.

`HtmlPage` is the definition of a page. What is read here is the same to the bit, or the page is
given up, and a tree is made of it. So it is, too, if the user chose another parser.
"""

from collections.abc import Set
from typing import Final

from sanderling.documents import native
from sanderling.documents.charsets import xml_charset
from sanderling.documents.html import ANCHOR_LENGTH, LANGUAGE_LENGTH, TITLE_LENGTH, Head, head_of, one_line
from sanderling.documents.parser_choice import TURBOHTML, chosen
from sanderling.documents.visible import MOST_NESTED

# Where a charset is looked for in a page whose headers do not name one.
_WINDOW: Final = 1024
# Labels of charsets that most pages have, and what each is called.
_CHARSETS: Final = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252", "ascii", "us-ascii"), "windows-1252"),
}  # fmt: skip
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class Tag:
    """A tag with its attributes."""

    __slots__ = ("attr", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attr = attributes.get


class FlatPage:
    """A page at a URL that was read without a tree: what `HtmlPage` says for a first visit."""

    def __init__(
        self, url: str, charset: str, body: bytes, words: str, title: str | None, language: str | None,
        hrefs: list[str], noted: list[tuple[str, dict[str, str]]], places: bytes, nofollow: bytes,
    ) -> None:  # fmt: skip
        self.url = url
        self.charset = charset
        self._body = body
        self._words = words
        self._title = title
        self._language = language
        self._hrefs = hrefs
        self._noted = noted
        self._places = places
        self._nofollow = nofollow

    def title(self) -> str:
        return one_line(self._title, TITLE_LENGTH) if self._title else ""

    def language(self) -> str:
        return (self._language or "")[:LANGUAGE_LENGTH]

    def text(self, spent: bool = False) -> str:
        return self._words

    def head(self, names: Set[str], follow_nofollow: bool = False) -> Head:
        tags = [Tag(tag, attributes) for tag, attributes in self._noted]
        return head_of(self.url, tags, _no_refresh, names, follow_nofollow)

    def hrefs(self, follow_nofollow: bool) -> list[str]:
        if follow_nofollow or not self._nofollow:
            return self._hrefs
        return [href for href, refuses in zip(self._hrefs, self._nofollow, strict=True) if not refuses]

    def anchor_texts(self, hrefs: list[str]) -> list[str]:
        if not hrefs:
            return []
        places = memoryview(self._places).cast("I")
        first = {href: at for at, href in zip(range(len(self._hrefs) - 1, -1, -1), reversed(self._hrefs), strict=True)}
        left, texts = MOST_NESTED, []
        assert native.extension is not None
        for href in hrefs:
            at = first.get(href, -1)
            text = (
                native.extension.text_between(self._body, places[2 * at], places[2 * at + 1])
                if at >= 0 and left > 0
                else ""
            )
            left -= len(text)
            texts.append(one_line(text, ANCHOR_LENGTH))
        return texts


def flat_page(body: bytes, charset: str | None, url: str) -> FlatPage | None:
    """A page, if it can be read without a tree."""
    read = read_flat(body, charset, url)
    return read if isinstance(read, FlatPage) else None


def read_flat(body: bytes, charset: str | None, url: str) -> FlatPage | str:
    """The same, or why a tree is needed."""
    if native.extension is None or chosen() != TURBOHTML:
        return "Python reader"
    if body.startswith(_MARKS):
        return "byte-order mark"
    known = _CHARSETS.get(charset.lower()) if charset is not None else None
    if charset is not None and known is None:
        return "charset"
    window, is_western = 0 if known else _WINDOW, False
    if b"\r" in body:
        window = window and len(_in_lines(body[:window]))
        body = _in_lines(body)
    read = native.extension.read(body, window)
    if read == "not UTF-8" and known != "utf-8":
        body, window = _transcoded(body), window and len(_transcoded(body[:window]))
        read, is_western = native.extension.read(body, window), True
    if isinstance(read, str):
        return read
    words, title, language, hrefs, noted, places, nofollow, label, is_ascii = read
    if known is None:
        if label is not None:
            known = _CHARSETS.get(label)
        elif (said := xml_charset(body)) is not None:
            known = _CHARSETS.get(said.lower())
        elif is_ascii:
            known = "windows-1252"
    if known is None or not (is_ascii or is_western == (known != "utf-8")):
        return "charset"
    return FlatPage(url, known, body, words, title, language, hrefs, noted, places, nofollow)


def _in_lines(body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _transcoded(body: bytes) -> bytes:
    return body.decode("whatwg-windows-1252").encode()


def _no_refresh(base: str) -> None:
    return None
