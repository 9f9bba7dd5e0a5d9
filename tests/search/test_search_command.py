"""`sanderling search` as a user runs it, whatever is typed."""

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.testing import DAY, SyntheticWeb
from tests.conftest import FAST, Run
from tests.search_library import NOW, Library


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with contextlib.closing(Library(tmp_path_factory.mktemp("birds") / "crawl")) as made:
        red = "the <b>heron</b> and the \x1b[31mred\x1b[0m gull"
        made.page("http://a.org/%E9%B3%A5?q=a%20b", red, title="Birds \x1b[2J")
        made.page("http://a.org/price", "the price is ten", title="Price")
        made.page("http://a.org/price", "the price is twenty", title="Price", at=NOW + 60)
        yield made


def search(library: Library, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["search", str(library.folder.path), *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_within(birds: Library, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(birds, capsys, "the", "--within", "price", "--json")[1].count("\n") == 1
    assert "1. Price" in search(birds, capsys, "the", "--within", "price", "--within", "twenty")[1]
    assert search(birds, capsys, "the", "--within", "price", "--within", "heron", "--json")[1] == ""
    code, _, told = search(birds, capsys, "the", "--within", "")
    assert code == 2 and "no words" in told


def test_months_and_spans(birds: Library, capsys: pytest.CaptureFixture[str]) -> None:
    day, month = (time.strftime(form, time.localtime(NOW)) for form in ("%Y-%m-%d", "%Y-%m"))
    for asked in (["--at", month], ["--between", day, day], ["--between", "2001-02", month]):
        assert "2 matching" in search(birds, capsys, "price", *asked)[1], asked
    assert search(birds, capsys, "price", "--at", "2001-02", "--json")[1] == ""
    for asked in (["--at", "2001-13"], ["--between", month, "2001-02"]):
        code, _, told = search(birds, capsys, "price", *asked)
        assert code == 2 and told.count("\n") == 1, asked


def test_what_people_see(birds: Library, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = search(birds, capsys, "heron")
    assert code == 0
    assert "1. Birds" in out
    assert "http://a.org/%E9%B3%A5?q=a%20b" in out
    assert "the *heron* and" in out
    assert "\x1b" not in out
    assert out.splitlines()[-1].startswith("1 matching, ")
    _, out, _ = search(birds, capsys, "twenty", "OR", "ten", "--versions")
    assert "version 1 until " in out
    assert "2 matching" in out


def test_what_programs_read(birds: Library, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = search(birds, capsys, "price", "--json", "--versions")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["version"], row["current"]) for row in rows] in ([(2, True), (1, False)], [(1, False), (2, True)])
    assert all(row["snippet_html"].count("<mark>price</mark>") == 1 for row in rows)
    assert {"url", "title", "snippet_text", "marks", "at", "until", "score", "host", "language", "folded"} <= set(
        rows[0]
    )
    _, out, _ = search(birds, capsys, "url:鳥", "--json")
    assert json.loads(out)["url"] == "http://a.org/%E9%B3%A5?q=a%20b"


@pytest.mark.parametrize(
    "typed",
    [
        "heron " * 2000, "h" * 10_000, '"heron the', '"', '""', "(((heron", ")))", "(" * 5000, "heron OR", "-", "-heron",
        "the", "the of and", "*", "~", "a*", "h~2", "(a+)+$", "(.*a){30}", "[[[", "\\", "heron\\", "/.*/", "heron^9", "+heron", "{1 TO 2}",
        "host:", "host:*", "lang:xx", "nofield:heron", "title:", "title:(", ":heron", "a:b:c:d", "\x00heron\x1b", "\udcff heron",
        "😀", "é" * 300, "鳥", "heron~99999999", '"heron"~9', '"heron gull"~99', "NOT heron", "heron AND", "progress:here", "state:old",
    ],
)  # fmt: skip
def test_whatever_is_typed_has_an_answer(birds: Library, capsys: pytest.CaptureFixture[str], typed: str) -> None:
    code, out, _ = search(birds, capsys, "--", typed)
    assert code == 0
    assert "matching" in out.splitlines()[-1]
    code, _, _ = search(birds, capsys, f"--lang={typed[:100]}", "heron")
    assert code == 0
    code, _, err = search(birds, capsys, f"--host={typed[:100]}", "heron")
    assert code == 0 or "is not a host name" in err


@pytest.mark.parametrize("typed", ["(", '""', "OR", "-()"])
def test_a_question_without_words_finds_nothing_and_says_so(
    birds: Library, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    code, out, err = search(birds, capsys, "--", typed)
    assert code == 0 and out.startswith("0 matching")
    assert err == f"sanderling: there are no words to search for in {typed!r}: '*' finds all pages\n"


def test_no_question_at_all_is_refused(birds: Library, capsys: pytest.CaptureFixture[str]) -> None:
    for typed in ("", " "):
        code, out, err = search(birds, capsys, "--gone", typed)
        assert (code, out) == (2, "") and "no words to look for: name some, or '*'" in err
    assert search(birds, capsys, "*")[1].splitlines()[-1].startswith("2 matching")


@pytest.mark.parametrize(
    ("typed", "note"),
    [
        ("heron " * 100, "only the first 64 words"),
        ("h" * 10_000, "only the first 4,000 characters"),
        ("colour:red", "there is no field 'colour'"),
        ("h*", "too short"),
        ("heron +++", "has no letters or digits"),
        ("a" * 100, "more than 64 letters"),
        ('"heron at dawn', "not closed"),
    ],
)
def test_how_a_question_was_bent_is_told(
    birds: Library, capsys: pytest.CaptureFixture[str], typed: str, note: str
) -> None:
    _, _, err = search(birds, capsys, "--", typed)
    assert note in err
    assert err.startswith("sanderling: ")


@pytest.mark.parametrize("typed", ["a" * 100, "+++"])
def test_what_cannot_be_looked_for_is_not_found(birds: Library, capsys: pytest.CaptureFixture[str], typed: str) -> None:
    _, out, _ = search(birds, capsys, "--", typed)
    assert out.startswith("0 matching")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--limit", "0"], "argument --limit: '0' is not a whole number, 1 or more"),
        (["--limit", "5000"], "limit = 5000"),
        (["--page", "0"], "argument --page: '0' is not a whole number, 1 or more"),
        (["--page", "99999"], "too far"),
        (["--at", "soon"], "not a point in time"),
        (["--since", "yesterday"], "not a point in time"),
    ],
)
def test_what_cannot_be_asked(
    birds: Library, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str
) -> None:
    code, out, err = search(birds, capsys, "heron", *flags)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_folders_without_pages(library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = search(library, capsys, "heron")
    assert (code, err) == (0, "")
    assert out.startswith("0 matching")
    assert main(["reindex", str(library.folder.path)]) == 0
    for command in (["reindex", str(tmp_path)], ["search", str(tmp_path), "heron"]):
        assert main(command) == 2
        assert "is not a crawl folder" in capsys.readouterr().err


def test_a_crawl_over_time(sanderling: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crawl"

    def rows(*command: str) -> list[dict[str, object]]:
        assert main([command[0], str(folder), *command[1:], "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    with SyntheticWeb(pages=80, seed=4, change_rate=0.3, vanish=0.2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        assert len(rows("search", "*", "--limit", "500")) == 80
        site.clock.advance(6 * DAY)
        sanderling("crawl", "-d", folder, "--again", *FAST)
    now, gone = rows("search", "*", "--limit", "500"), rows("search", "*", "--limit", "500", "--gone")
    pages = [row for row in rows("pages") if not row["redirect"]]
    assert {row["url"] for row in now} == {row["url"] for row in pages if row["state"] == "fetched"}
    assert {row["url"] for row in gone} == {row["url"] for row in pages if row["state"] == "gone"} != set()
    assert any(row["version"] == 2 for row in now)
