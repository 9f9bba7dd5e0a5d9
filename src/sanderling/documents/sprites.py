"""Puts the drawings that a page uses from SVG files into the page itself.

Browsers let `<use>` take a drawing only from the same origin, which an archived page in a sandbox
and a page on a disk do not have.
"""

from collections.abc import Callable

from sanderling.documents.html import HtmlPage, readable_page
from sanderling.urls import join

MOST_USES = 500
LARGEST_SPRITE = 1 << 20
_HIDDEN = "position:absolute;width:0;height:0;overflow:hidden"

# The bytes of a file; None if there is no copy.
Read = Callable[[str], bytes | None]


def inline_sprites(page: HtmlPage, read: Read) -> None:
    """Changes the page. A drawing that cannot be read stays as it is."""
    root = page.document.find("base")
    base = (join(page.url, root.attr("href") or "") if root is not None else None) or page.url
    sprites: dict[str, HtmlPage | None] = {}
    drawn: dict[tuple[str, str], str] = {}
    parts = []
    for use in page.document.find_all("use")[:MOST_USES]:
        name = "href" if use.attr("href") else "xlink:href"
        address, _, id = (use.attr(name) or "").strip().partition("#")
        url = join(base, address) if address else None
        if url is None or not id:
            continue
        if url not in sprites:
            sprites[url] = _sprite(url, read(url))
        if (url, id) not in drawn:
            sprite = sprites[url]
            element = sprite.document.find(id=id) if sprite is not None else None
            if element is None:
                continue
            drawn[url, id] = element.attrs["id"] = f"sprite-{len(drawn)}-{id}"
            parts.append(element.html)
        use.attrs[name] = f"#{drawn[url, id]}"
    body = page.document.find("body")
    if parts and body is not None:
        body.insert_adjacent_html("beforeend", f'<svg aria-hidden="true" style="{_HIDDEN}">{"".join(parts)}</svg>')


def _sprite(url: str, content: bytes | None) -> HtmlPage | None:
    if content is None or len(content) > LARGEST_SPRITE:
        return None
    return readable_page(content, None, url)
