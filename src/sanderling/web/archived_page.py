"""Prepares an archived page for readers: its links lead to other archived pages, and a banner says
of when it is."""

from collections.abc import Callable
from html import escape

from turbohtml import Document

from sanderling.urls import join

HTML = ("text/html", "application/xhtml+xml")

# The page's own styles cannot hide the banner: inline styles that are important win over them.
_STYLE = (
    "all:initial!important;display:block!important;position:static!important;padding:.5em 1em!important;"
    "font:14px/1.4 system-ui,sans-serif!important;color:#123!important;background:#fdf3d7!important;"
    "border-bottom:1px solid #caa!important;overflow-wrap:anywhere!important"
)


def with_archived_links(document: Document, url: str, of: str, link_to: Callable[[str], str]) -> bytes:
    """The page as HTML in UTF-8. `link_to` makes the address at which the archived copy of a URL is
    found."""
    root = document.find("base")
    base = (join(url, root.attr("href") or "") if root is not None else None) or url
    for link in document.iter_elements(("a", "area")):
        link.attrs.pop("target", None)  # the sandbox does not open windows
        href = (link.attr("href") or "").strip()
        if not href or href.startswith("#"):
            continue
        if target := join(base, href):
            _, mark, fragment = href.partition("#")
            link.attrs["href"] = link_to(target) + mark + fragment
    body = document.find("body")
    if body is not None:
        said = f"Archived copy of {escape(url)} from {escape(of)}. Links lead to archived pages."
        body.insert_adjacent_html("afterbegin", f'<div role="note" style="{_STYLE}">{said}</div>')
    return document.html.encode("utf-8", "replace")
