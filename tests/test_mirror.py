"""A crawl as a site on a disk: safe paths, and links that lead to files."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest

from sanderling.presenting.export_folder import ExportFolder, FilesWritten, FolderFile
from sanderling.presenting.mirror import path_of
from tests.conftest import FAST, Run
from tests.rendering.rendering import browser
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
    assert again.code == 0 and "wrote 0 files" in again.err


def test_an_interrupted_export_goes_on(tmp_path: Path) -> None:
    files = [FolderFile(f"a/{n}.txt", "key", lambda n=n: b"%d" % n if n < 3 else None) for n in range(5)]

    def broken() -> Iterator[FolderFile]:
        yield from files[:2]
        raise KeyboardInterrupt

    (tmp_path / "out").mkdir()
    with pytest.raises(KeyboardInterrupt):
        ExportFolder(tmp_path / "out", "site").write(broken())
    assert ExportFolder(tmp_path / "out", "site").write(files) == FilesWritten(1, 2, 0)
    assert ExportFolder(tmp_path / "out", "site").write(files[1:3]) == FilesWritten(0, 2, 1)
    assert sorted(path.name for path in (tmp_path / "out" / "a").iterdir()) == ["1.txt", "2.txt"]


def test_a_page_as_one_file(sanderling: Run, tmp_path: Path) -> None:
    table = {
        "/": b"<link rel=stylesheet href=s/a.css><script src=a.js></script><a href=/two>two</a><iframe src=/frame></iframe><img src=gone.png>",
        "/two": b"<p>Two", "/frame": b"<link rel=stylesheet href=s/a.css><p>A frame", "/s/b.png": Answer(b"a picture", "image/png"),
        "/s/a.css": Answer(b"@import 'a.css'; p { background: url(b.png) }", "text/css"),
    }  # fmt: skip
    folder, out = tmp_path / "crawl", tmp_path / "out"
    with PageServer(table) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, "--requisites", "--render", "never", *FAST)
        assert sanderling("export", folder, "--format", "single", "-o", out, "--urls", "/$").code == 0
        (written,) = out.rglob("*.html")
        html = written.read_text()
        assert f'href="{server.origin}/two"' in html and "<script" not in html and "about:invalid" in html
    (sheet,) = {
        base64.b64decode(each).decode()
        for each in re.findall(r'href="data:text/css;charset=utf-8;base64,([^"]+)', html)
    }
    assert f"data:image/png;base64,{base64.b64encode(b'a picture').decode()}" in sheet and "about:invalid" in sheet
    (frame,) = re.findall(r'src="data:text/html;charset=utf-8;base64,([^"]+)', html)
    assert "A frame" in base64.b64decode(frame).decode() and "data:text/css" in base64.b64decode(frame).decode()
    assert "wrote 2 files" in sanderling("export", folder, "--format", "single", "-o", out).err
    other = sanderling("export", folder, "--format", "site", "-o", out)
    assert other.code == 2 and "is not empty" in other.err  # it would remove what is there
    wrong = sanderling("export", folder, "--format", "single", "-o", "-")
    assert wrong.code == 2 and "is written to a folder" in wrong.err
    assert "does not take" in sanderling("export", folder, "--format", "pdf", "-o", out, "--since", "1d").err

    browser()
    assert sanderling("export", folder, "--format", "pdf", "-o", tmp_path / "pdf", "--urls", "two").code == 0
    (paper,) = (tmp_path / "pdf").rglob("*.pdf")
    assert "Two" in pypdfium2.PdfDocument(paper)[0].get_textpage().get_text_range()
