"""Prepares an archived page for readers: it shows the archived files of its time, its links lead to
other archived pages, and a bar says of when it is."""

from html import escape
from typing import NamedTuple

from sanderling.documents.html import HtmlPage
from sanderling.documents.rewriting import Targets, rewritten_page
from sanderling.documents.sprites import Read, inline_sprites
from sanderling.documents.tree import Document

HTML = ("text/html", "application/xhtml+xml")

# The page's own styles cannot hide the bar: inline styles that are important win over them.
_STYLE = (
    "all:initial!important;display:block!important;position:static!important;padding:.5em 1em!important;"
    "font:14px/1.4 system-ui,sans-serif!important;color:#123!important;background:#fdf3d7!important;"
    "border-bottom:1px solid #caa!important;overflow-wrap:anywhere!important"
)
_LINK = "all:revert!important;color:#025!important;margin-left:.8em!important;font:inherit!important"


class Bar(NamedTuple):
    """What the bar above an archived page says."""

    url: str
    of: str
    links: list[tuple[str, str]]  # words and address


def replayed(document: Document, url: str, to: Targets, read: Read, bar: Bar | None, rendered: bool) -> bytes:
    """The page as HTML in UTF-8. `read` gives archived files, for drawings that are used in it."""
    page = HtmlPage(document, None, url)
    inline_sprites(page, read)
    html = rewritten_page(page, to, rendered)
    if bar is not None:
        html = _with_bar(html, bar)
    return html.encode("utf-8", "replace")


def _with_bar(html: str, bar: Bar) -> str:
    start = html.lower().find("<body")
    end = html.find(">", start) + 1 if start >= 0 else 0
    links = "".join(f'<a style="{_LINK}" href="{escape(address)}">{escape(words)}</a>' for words, address in bar.links)
    said = f"Archived copy of {escape(bar.url)} from {escape(bar.of)}. Links lead to archived pages."
    return f'{html[:end]}<div role="note" style="{_STYLE}">{said}{links}</div>{html[end:]}'
