"""What a search finds of a document: its title, its headings and all of its text, from one
parse."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from sanderling.documents.charsets import decode
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage, directives
from sanderling.documents.menus import implied_type
from sanderling.documents.reading import is_document, media_type, read_document
from sanderling.documents.tree import detect_language
from sanderling.documents.unreadable import UNREADABLE
from sanderling.documents.visible import NestedText

_HEADINGS = ("h1", "h2", "h3")
# Detecting a language costs by the length of what is looked at; as much tells the languages of
# Europe apart.
_SAMPLE = 400
_SURE = 0.5
_SHORT = {
    "ara": "ar", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh", "dan": "da", "deu": "de", "ell": "el",
    "eng": "en", "est": "et", "fas": "fa", "pes": "fa", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hrv": "hr",
    "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lav": "lv", "lit": "lt", "nld": "nl", "nob": "no",
    "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk", "slv": "sl", "spa": "es", "srp": "sr",
    "swe": "sv", "tam": "ta", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh",
}  # fmt: skip


class FullText(NamedTuple):
    title: str = ""
    headings: str = ""
    text: str = ""
    language: str = ""  # two letters, as the page says or as it reads; empty when it is anybody's guess
    noindex: bool = False  # the page or its headers forbid to show it


def full_text(url: str, body: bytes, headers: Sequence[tuple[str, str]], names: Set[str] | None) -> FullText:
    """What a document says; whether it may be shown is looked up for a robot of these `names`, if
    any."""
    types = [value for name, value in headers if name.lower() == "content-type"]
    mime, charset = media_type(types[0] if types else implied_type(url))
    try:
        kind = kind_of(body, mime, charset)
        if kind == "html":
            found = _html(HtmlPage(body, charset, url), names)
        elif kind == "text":
            found = FullText(text=decode(body, charset))
        elif is_document(kind):
            read = read_document(kind, body, charset)
            found = FullText(read.title, text=read.text)
        else:
            found = FullText()
    except UNREADABLE:
        found = FullText()  # as when it was fetched: what our parsers choke on is kept unread
    tags = [value for name, value in headers if name.lower() == "x-robots-tag"]
    forbidden = found.noindex or (names is not None and directives(tags, names)[1])
    return found._replace(language=found.language or _language_of(found.text), noindex=forbidden)


def _html(page: HtmlPage, names: Set[str] | None) -> FullText:
    texts = NestedText()
    headings = "\n".join(" ".join(texts.of(each).split()) for each in page.document.iter_elements(_HEADINGS))
    language = page.language().replace("_", "-").partition("-")[0].strip().lower()
    noindex = names is not None and page.head(names).noindex
    return FullText(page.title(), headings, page.text(spent=True), language[:8], noindex)


def _language_of(text: str) -> str:
    # From the middle: the beginning is menus and names.
    start = max(0, (len(text) - _SAMPLE) // 2)
    match = detect_language(text[start : start + _SAMPLE])
    return _SHORT.get(match.language or "", "") if match.confidence >= _SURE else ""
