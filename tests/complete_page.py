"""A page of 55 files, of every kind that a page can need: 52 that its text names, and 3 that only
its scripts ask for. Some are on another host."""

from sanderling.testing.png import pattern
from tests.servers import Answer, Table

BY_SCRIPT = ("/data.json", "/made-by-script.png", "/lazy-2.js")
_CSS, _JS, _FONT, _MP4 = "text/css", "text/javascript", "font/woff2", "video/mp4"


def colour(number: int) -> bytes:
    """A small picture, another one for each number."""
    return pattern((number + 1) * 0x9E3779B97F4A7C15 % 2**64)


def drawing(fill: str, more: str = "") -> bytes:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
        f'<symbol id="dot"><circle cx="4" cy="4" r="4" fill="{fill}"/></symbol><rect width="9" height="9" fill="{fill}"/>{more}</svg>'
    ).encode()


def page(other: str) -> bytes:
    return f"""<!doctype html><html><head><meta charset=utf-8><title>Everything</title>
<link rel="preload stylesheet" as=style href=/css/main.css><link rel=stylesheet href=/css/print.css media=print>
<link rel="alternate stylesheet" href=/css/dark.css title=dark><link rel=stylesheet href={other}/cdn/grid.css>
<link rel=icon href=/favicon.svg><link rel=apple-touch-icon href=/touch.png><link rel=manifest href=/site.webmanifest>
<link rel=preload as=image imagesrcset="/hero-1.png 1x, /hero-2.png 2x"><link rel=modulepreload href=/js/early.js>
<meta property=og:image content=/og.png><meta name=twitter:image content=/card.png>
<style>@import "/css/inline.css"; h1 {{ background: url( '/img/heading.png' ) }}</style>
<script type=importmap>{{"imports": {{"birds": "/js/birds.js"}}}}</script>
<script src=/js/classic.js></script><script type=module>import "/js/main.js"; import "birds";</script>
<script src={other}/cdn/counter.js></script></head>
<body background=/img/body.png><h1>Everything</h1><p>The text of the page.</p>
<picture><source type=image/webp srcset="/img/wide.webp 2x, /img/narrow.webp 1x">
<img src=/img/plain.png srcset="/img/plain-2.png 2x,/img/plain-3.png 3x" alt=plain></picture>
<img src={other}/photo.png alt=other><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt=data>
<video poster=/poster.png src=/clip.mp4><track src=/clip.vtt></video>
<audio><source src=/song.mp3><source src=/song.ogg></audio><input type=image src=/button.png alt=go>
<table background=/img/table.png><tr><td background=/img/cell.png>cell</table>
<object data=/chart.svg type=image/svg+xml width=30 height=30></object><embed src=/small.svg width=30 height=30>
<svg width=20 height=20><use href="/sprite.svg#dot"/><image xlink:href="/img/in-svg.png" width=9 height=9 /></svg>
<p style="background: image-set('/img/low.png' 1x, '/img/high.png' 2x)">sets</p>
<iframe src={other}/frame.html></iframe><iframe srcdoc="<img src=/img/inner.png>"></iframe>
<noscript><img src=/img/no-script.png alt=""></noscript></body></html>""".encode()


def files() -> Table:
    """All that the page has on its own host."""
    pictures = [
        "/touch.png", "/hero-1.png", "/hero-2.png", "/og.png", "/card.png", "/img/heading.png", "/img/body.png",
        "/img/wide.webp", "/img/narrow.webp", "/img/plain.png", "/img/plain-2.png", "/img/plain-3.png", "/poster.png",
        "/button.png", "/img/table.png", "/img/cell.png", "/img/in-svg.png", "/img/low.png", "/img/high.png",
        "/img/inner.png", "/img/no-script.png", "/img/background.png", "/icon-512.png", "/made-by-script.png",
        "/img/listed.png",
    ]  # fmt: skip
    return {
        **{path: Answer(colour(number), "image/png") for number, path in enumerate(pictures)},
        "/css/main.css": Answer(
            b"/* url(/not-a-file.png) */ @import url('base.css'); @font-face { font-family: F; src: url(../fonts/f.woff2) }"
            b"body { background: #eef url(../img/background.png); font-family: F, sans-serif } h1 { color: #a33 }",
            _CSS,
        ),
        "/css/base.css": Answer(b"p { margin: 1em; border: 1px solid teal }", _CSS),
        "/css/print.css": Answer(b"@font-face { font-family: P; src: url('/fonts/print.woff2') }", _CSS),
        "/css/dark.css": Answer(b"body { color: white }", _CSS),
        "/css/inline.css": Answer(b"td { padding: 3px; list-style: url(/img/listed.png) }", _CSS),
        "/fonts/f.woff2": Answer(b"wOF2 not a font", _FONT),
        "/fonts/print.woff2": Answer(b"wOF2 nor this", _FONT),
        "/favicon.svg": Answer(drawing("gold"), "image/svg+xml"),
        "/chart.svg": Answer(drawing("navy"), "image/svg+xml"),
        "/small.svg": Answer(drawing("green"), "image/svg+xml"),
        "/sprite.svg": Answer(drawing("red"), "image/svg+xml"),
        "/site.webmanifest": Answer(b'{"icons": [{"src": "/icon-512.png"}]}', "application/manifest+json"),
        "/js/early.js": Answer(b"export const early = 1", _JS),
        "/js/birds.js": Answer(b"export default 'birds'", _JS),
        "/js/classic.js": Answer(
            b"fetch('/data.json'); const i = new Image(); i.src = '/made-by-' + 'script.png'; const lazy = '/lazy-2.js'; import(lazy)", _JS
        ),
        "/js/main.js": Answer(b'import { part } from "./part.js"; export * from "/js/early.js"', _JS),
        "/js/part.js": Answer(b"export const part = 2", _JS),
        "/data.json": Answer(b"{}", "application/json"),
        "/lazy-2.js": Answer(b"", _JS),
        "/clip.mp4": Answer(b"\0\0\0\x18ftypmp42", _MP4),
        "/clip.vtt": Answer(b"WEBVTT\n", "text/vtt"),
        "/song.mp3": Answer(b"ID3", "audio/mpeg"),
        "/song.ogg": Answer(b"OggS", "audio/ogg"),
    }  # fmt: skip


def files_elsewhere() -> Table:
    """What is on another host, with a file of a frame."""
    return {
        "/cdn/grid.css": Answer(b".grid { background: url(dots.png) }", _CSS),
        "/cdn/dots.png": Answer(colour(90), "image/png"),
        "/cdn/counter.js": Answer(b"1", _JS),
        "/photo.png": Answer(colour(91), "image/png"),
        "/frame.html": Answer(b"<link rel=stylesheet href=frame.css><p>A frame</p><a href=/not-followed>link</a>"),
        "/frame.css": Answer(b"p { color: purple }", _CSS),
    }
