"""Renders the pages of the synthetic web as HTML.

Each kind of edit changes exactly one thing: text changes the sentences of a paragraph, structure
the tags around paragraphs, presentation the style attributes, and image the names of the pictures.
"""

from typing import NamedTuple

from sanderling.testing.chance import draw, shorts
from sanderling.testing.prose import SENTENCES, sentences
from sanderling.testing.schedule import Condition

SENTENCES_PER_PARAGRAPH = 4
PARAGRAPHS_PER_SECTION = 3
BYTES_PER_PARAGRAPH = 280
"""The measured mean length of four sentences of the pool, with spaces."""

_WRAPPERS = [
    ("<div>", "</div>"),
    ("<section>", "</section>"),
    ("<article>", "</article>"),
    ("<blockquote>", "</blockquote>"),
    ("<div><div>", "</div></div>"),
    ("<section><div>", "</div></section>"),
    ("<hr><div>", "</div>"),
    ("<ul><li>", "</li></ul>"),
]
_FONTS = ["serif", "sans-serif", "monospace", "system-ui"]
_TEXT, _PICTURE = 21, 22


class RenderedLink(NamedTuple):
    href: str
    anchor: str


def paragraph_count(size: float) -> int:
    return max(1, round(size / BYTES_PER_PARAGRAPH))


def picture_names(key: int, condition: Condition) -> list[str]:
    """The one or two pictures of a page. An image edit replaces the first."""
    names = [f"{draw(key ^ condition.image, _PICTURE):016x}"]
    if key & 1:
        names.append(f"{draw(key, _PICTURE + 1):016x}")
    return names


def render(
    *,
    seed: int,
    key: int,
    title: str,
    links: list[RenderedLink],
    pictures: str,
    paragraphs: int,
    condition: Condition,
    topic: int = -1,
) -> bytes:
    look = draw(key, condition.presentation)
    style = f"color:#{look & 0xFFFFFF:06x};font-family:{_FONTS[look >> 24 & 3]}"
    home, *others = links if links else [RenderedLink("./", "Home")]
    parts = [
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n</head>\n<body>\n"
        f'<nav><a href="{_escape(home.href)}">{home.anchor}</a></nav>\n<h1 style="{style}">{title}</h1>\n'
    ]
    parts += _sections(sentences(seed, topic), key, paragraphs, condition)
    parts += [
        f'<p><img src="{pictures}{name}.png" width="8" height="8" alt="A pattern"></p>\n'
        for name in picture_names(key, condition)
    ]
    parts.append("<h2>See also</h2>\n<ul>\n")
    parts += [f'<li><a href="{_escape(link.href)}">{link.anchor}</a></li>\n' for link in others]
    parts.append("</ul>\n</body>\n</html>\n")
    return "".join(parts).encode()


def _sections(pool: tuple[str, ...], key: int, paragraphs: int, condition: Condition) -> list[str]:
    text = [pool[n % SENTENCES] for n in shorts(draw(key, _TEXT), paragraphs * SENTENCES_PER_PARAGRAPH)]
    for paragraph, stamp in condition.text.items():
        start = paragraph * SENTENCES_PER_PARAGRAPH
        fresh = shorts(draw(key, stamp), SENTENCES_PER_PARAGRAPH)
        text[start : start + SENTENCES_PER_PARAGRAPH] = [pool[n % SENTENCES] for n in fresh]
    # At least five wrappers, so that two layouts are equal in only one of 8 ** 5 cases.
    layout = draw(key, condition.structure)
    blocks = []
    for n in range(max(paragraphs, 5)):
        opening, closing = _WRAPPERS[layout >> 3 * (n % 16) & 7]
        start = n * SENTENCES_PER_PARAGRAPH
        words = " ".join(text[start : start + SENTENCES_PER_PARAGRAPH])
        heading = f"<h2>{words[:24].rsplit(' ', 1)[0]}</h2>" if n and n % PARAGRAPHS_PER_SECTION == 0 and words else ""
        body = f"<p>{words}</p>" if words else ""
        blocks.append(f"{opening}{heading}{body}{closing}\n")
    return blocks


def _escape(url: str) -> str:
    return url.replace("&", "&amp;")
