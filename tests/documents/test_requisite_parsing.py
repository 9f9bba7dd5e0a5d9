"""The addresses of files that documents need, as they are written."""

import pytest

from sanderling.documents.requisites import of_manifest, of_script, of_srcset, of_stylesheet, requisites_of


@pytest.mark.parametrize(
    ("sheet", "found"),
    [
        ("@import 'a.css'; @import url(b.css) print;", ["a.css", "b.css"]),
        ("p { background: url( 'a b.png' ) } q { cursor: url(\"c.cur\"), auto }", ["a b.png", "c.cur"]),
        ("/* url(no.png) */ p { background: url(yes.png) /* open", ["yes.png"]),
        ("p { background: URL(a\\20 b\\(1\\).png) }", ["a b(1).png"]),
        ("@namespace svg url(http://www.w3.org/2000/svg); p { mask: url(#here) }", []),
        ("p { background: image-set('a.png' 1x, url(b.png) 2x, 'c.avif' type('image/avif')) }", ["b.png", "a.png", "c.avif"]),
        ("p { background: url(data:image/png;base64,AA==) }", []),
    ],
)  # fmt: skip
def test_style_sheets(sheet: str, found: list[str]) -> None:
    assert of_stylesheet(sheet) == found


def test_scripts_import_by_paths() -> None:
    text = """import a from './a.js'; import "/b.js"; export * from "../c.js"; const d = import('./d.js');
        import vue from 'vue'; new URL("./e.wasm", import.meta.url); const text = "from nowhere";"""
    assert of_script(text) == ["./a.js", "/b.js", "../c.js", "./d.js", "./e.wasm"]


def test_sets_of_images() -> None:
    assert of_srcset("a.png, b.png 2x,c.png 300w , data:image/gif;base64,AA= 3x") == [
        "a.png", "b.png", "c.png", "data:image/gif;base64,AA=",
    ]  # fmt: skip
    assert of_srcset(" ,, ") == []


def test_manifests() -> None:
    assert of_manifest('{"icons": [{"src": "a.png"}], "shortcuts": [{"icons": [{"src": "b.png"}]}]}') == [
        "a.png",
        "b.png",
    ]
    assert of_manifest("[" * 100_000) == of_manifest("no") == []


def test_playlists_and_drawings() -> None:
    assert requisites_of("http://a/", b"#EXTM3U\n#EXTINF:9\none.ts\n", "audio/mpegurl", None) == ["one.ts"]
    svg = b'<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="s.svg#a"/><image href="i.png"/></svg>'
    assert requisites_of("http://a/", svg, "image/svg+xml", None) == ["s.svg#a", "i.png"]
    assert requisites_of("http://a/", b"\0", "image/png", None) == []


@pytest.mark.parametrize(
    "text", ["url(" * 50_000, "/*" * 50_000, "image-set(" * 20_000, '@import "' * 30_000, "url(" + " " * 99_999]
)
def test_long_nonsense_takes_linear_time(text: str) -> None:
    assert len(of_stylesheet(text)) <= 1000


def test_files_that_scripts_put_in_place() -> None:
    page = b"""<img data-src=a.png><img src="data:," data-srcset="b.png 1x, c.png 2x"><video data-poster=d.png></video>
        <div data-bg="img/e.jpg"></div><section data-background="#fff"></section><p data-src="no"></p>"""
    assert requisites_of("http://a/", page, "text/html", None) == ["a.png", "b.png", "c.png", "d.png", "img/e.jpg"]
