from pathlib import Path

import pytest

from sanderling.presenting.markdown import name
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("https://e.org/", "e.org/index.md"),
        ("https://e.org/docs/", "e.org/docs/index.md"),
        ("https://e.org/docs", "e.org/docs.md"),
        ("https://e.org/a/b.html", "e.org/a/b.html.md"),
    ],
)
def test_a_file_is_named_after_its_url(url: str, file: str) -> None:
    assert str(name(url)) == file


@pytest.mark.parametrize(
    "url",
    [
        "http://e.org:80/a?x=1",
        "http://e.org/..%2f..",
        "http://e.org//etc/passwd",
        "http://e.org/" + "a" * 3000,
        "http://e.org/.git/x",
    ],
)
def test_no_url_leads_out_of_the_folder(url: str) -> None:
    path = name(url)
    assert not path.is_absolute() and ".." not in path.parts and not any(part.startswith(".") for part in path.parts)
    assert all(len(part) < 200 for part in path.parts)
    assert path != name(url + "x")


def test_pages_become_files(sanderling: Run, tmp_path: Path) -> None:
    page = (
        b"<title>About: birds</title><nav><a href=/x.bin>menu</a></nav>"
        b"<h1>Birds</h1><p>They <b>run</b> to <a href=sea>the sea</a>.</p><footer>imprint</footer>"
    )
    with PageServer({"/": page, "/sea": b"<p>waves", "/x.bin": Answer(b"\0\1\2", "application/x-y")}) as server:
        sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "crawl", *FAST)
        out = tmp_path / "out"
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out).code == 0
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out).code == 2
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out, "--force").code == 0
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", "-").code == 2
        assert len(list(out.rglob("*.md"))) == 2
        front, text = next(out.rglob("index*.md")).read_text().split("---\n", 2)[1:]
        assert f'url: "{server.origin}/"' in front and 'title: "About: birds"' in front
        assert text == f"\n# Birds\n\nThey **run** to [the sea]({server.origin}/sea).\n"
