from pathlib import Path

import pytest

from sanderling.documents.chunks import chunks
from sanderling.documents.markdown_apart import Source
from sanderling.presenting.markdown import MarkdownPage, files, name
from sanderling.presenting.markdown_ahead import ahead
from sanderling.repository.export import LeftOut
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
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out).code == 0
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out, "--force").code == 0
        assert sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", "-").code == 2
        assert len(list(out.rglob("*.md"))) == 2
        front, text = next(out.rglob("index*.md")).read_text().split("---\n", 2)[1:]
        assert f'url: "{server.origin}/"' in front and 'title: "About: birds"' in front
        assert text == f"\n# Birds\n\nThey **run** to [the sea]({server.origin}/sea).\n"


def test_a_second_export_writes_what_changed(sanderling: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def export() -> str:
        ran = sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out)
        assert ran.code == 0, ran.err
        return ran.err

    front = b"<p>" + b"words of the front page " * 20
    pages = {"/": front + b"<a href=/a>a</a><a href=/b/c>c</a>", "/a": b"<p>first", "/b/c": b"<p>third"}
    with PageServer(pages) as server:
        sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "crawl", *FAST)
        assert "wrote 3 files" in export()
        (kept,) = out.glob("*/index*.md")
        kept.write_text("edited by hand")
        server.table["/a"] = b"<p>second"
        server.table["/b/c"] = Answer(b"", status=404)
        sanderling("crawl", "--again", "-d", tmp_path / "crawl", *FAST)
        assert "wrote 1 file" in (said := export()) and "1 unchanged, 1 removed" in said
        assert kept.read_text() == "edited by hand"
        assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".md", ".json"}
        assert len(list(out.rglob("*.md"))) == 2 and not list(out.rglob("b"))
        assert "second" in next(out.glob("*/a*.md")).read_text()
        (out / ".sanderling.json").write_text("[")
        assert "cannot be read" in sanderling("export", tmp_path / "crawl", "--format", "markdown", "-o", out).err
        lists = sanderling("export", tmp_path / "crawl", "--format", "llms.txt", "-o", "-").out
        assert f"({server.origin}/a)" in lists
        assert "second" in sanderling("export", tmp_path / "crawl", "--format", "llms-full.txt", "-o", "-").out
        pieces = sanderling("export", tmp_path / "crawl", "--format", "chunks", "-o", "-").lines
        assert {piece["url"] for piece in pieces} == {f"{server.origin}/", f"{server.origin}/a"}


def test_pieces_keep_their_ids_when_their_text_changes() -> None:
    page = "before\n\n# One\n\ntext\n\n## Two\n\n```\n# no heading\n```\n\n# Three\n\nend"
    found = list(chunks("http://e.org/", "T", page))
    assert [(piece.path, piece.text) for piece in found] == [
        ([], "before"), (["One"], "text"), (["One", "Two"], "```\n# no heading\n```"), (["Three"], "end"),
    ]  # fmt: skip
    other = list(chunks("http://e.org/", "T", page.replace("text", "another text")))
    assert [piece.id for piece in other] == [piece.id for piece in found]
    assert [a.digest == b.digest for a, b in zip(found, other, strict=True)] == [True, False, True, True]
    assert len({piece.id for piece in found}) == 4
    long = list(chunks("http://e.org/", "T", "# A\n\n" + "word " * 300 + "\n\n" + "more " * 700))
    assert len(long) == 2 and len({piece.id for piece in long}) == 2


def test_pages_are_written_by_processes_in_their_order() -> None:
    def page(number: int, source: Source | None) -> MarkdownPage:
        return MarkdownPage(f"http://e.org/{number}", "", str(number), "", lambda: "written here", lambda: source)

    def source(number: int) -> Source:
        url = f"http://e.org/{number}"
        return Source(
            url, url, "text/html", f"<h1>No {number}</h1><p><a href=x>see</a> \ud800".encode("utf-8", "replace")
        )

    broken = Source(None, "", "text/html", b"")  # type: ignore[arg-type]  # no child takes it
    sources = [source(number) for number in range(40)]
    pages = [page(number, {7: None, 20: broken}.get(number, each)) for number, each in enumerate(sources)]
    left_out = LeftOut()
    found = [*ahead(pages, left_out, lambda each: each.key != "30", processes=2, alone=2)]
    assert [each.url for each in found] == [each.url for each in pages]
    texts = [each.text() for each in found]
    assert [number for number, text in enumerate(texts) if text == "written here"] == [0, 1, 30]
    assert [number for number, text in enumerate(texts) if text is None] == [7, 20]
    assert texts[39] == "# No 39\n\n[see](http://e.org/x) ?"
    assert left_out.count == 1 and left_out.first.startswith("http://e.org/20: ")


def test_no_page_is_in_the_way_of_another() -> None:
    """A site may have any URLs: long ones, files and folders of one name, and one page under two
    schemes."""
    urls = [
        *("http://a.example/a", "https://a.example/a", "http://a.example/a.md/b", "http://a.example/a/"),
        *("http://a.example/a/index", f"http://a.example/{'b/' * 3000}", f"http://a.example/{'b/' * 3000}x"),
        *(f"http://a.example/{'c' * 3000}", f"http://a.example/{'c' * 3000}d"),
    ]
    pages = [MarkdownPage(url, "", "", "", lambda: "x") for url in urls]
    paths = [Path(each.path) for each in files(pages)]
    assert len(set(paths)) == len(urls)
    assert not set(paths) & {folder for path in paths for folder in path.parents}
    assert max(len(str(path)) for path in paths) < 1500
