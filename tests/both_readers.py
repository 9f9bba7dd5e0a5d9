"""What both readers say of a page."""

from sanderling.documents.flat import FlatPage, read_flat
from sanderling.documents.html import HtmlPage
from sanderling.documents.reading import hrefs_of

URL = "http://e.org/a/b.html"
_NAMES = frozenset({"sanderling"})


def said(page: HtmlPage | FlatPage, follow_nofollow: bool) -> dict[str, object]:
    head = page.head(_NAMES, follow_nofollow)
    hrefs, spelled = hrefs_of(page, head, follow_nofollow)
    texts = page.anchor_texts([href for href in hrefs if href])
    return {
        "charset": page.charset, "head": head, "hrefs": hrefs, "spelled": spelled, "texts": texts,
        "title": page.title(), "language": page.language(), "text": page.text(),
    }  # fmt: skip


def compared(body: bytes, charset: str | None = None, follow_nofollow: bool = False) -> str:
    """Why the native reader gives a page up; empty if both say the same of it."""
    flat = read_flat(body, charset, URL)
    if isinstance(flat, str):
        return flat
    assert said(flat, follow_nofollow) == said(HtmlPage(body, charset, URL), follow_nofollow), body
    return ""
