"""Output files: written completely or not at all, and never over a file that must stay."""

import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab import EXPERIMENTS
from sanderling.cli import COMMANDS, main
from sanderling.model import ChangeKind
from tests.conftest import Run
from tests.search_library import NOW, Library
from tests.waiting import PATIENCE

WRITERS = [("export", "--format", "links"), ("feed",)]


@pytest.fixture
def own(crawled: Path, tmp_path: Path) -> Path:
    """A crawl folder to write beside."""
    return Path(shutil.copytree(crawled / "small", tmp_path / "crawl", ignore=shutil.ignore_patterns("*.socket")))


@pytest.mark.parametrize("writer", WRITERS, ids=lambda words: words[0])
def test_a_device_or_a_pipe_is_written_to_and_not_replaced(writer: tuple[str, ...], own: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert main([writer[0], str(own), *writer[1:], "-o", str(pipe)]) == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(PATIENCE)
    assert taken[0]


@pytest.mark.parametrize("writer", WRITERS, ids=lambda words: words[0])
def test_a_link_stays_a_link(writer: tuple[str, ...], own: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "latest"
    link.symlink_to("there/file")
    assert main([writer[0], str(own), *writer[1:], "-o", str(link)]) == 0
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


@pytest.mark.parametrize("writer", [*WRITERS, ("export", "--format", "markdown")], ids=lambda words: words[-1])
def test_the_crawl_is_not_written_over(
    writer: tuple[str, ...], own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (own / "sanderling.db").read_bytes()
    more = ["--force"] if writer[0] == "export" else []
    for place in (own, own / "sanderling.db", own / "warc" / "mine", own / "nowhere" / "mine"):
        assert main([writer[0], str(own), *writer[1:], "-o", str(place), *more]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.chdir(own)
    assert main([writer[0], ".", *writer[1:], "-o", ".", *more]) == 2
    assert (own / "sanderling.db").read_bytes() == before
    assert not (own / "warc" / "mine").exists()


def test_a_feed_to_standard_output_by_name(own: Path, sanderling: Run, tmp_path: Path) -> None:
    assert sanderling("feed", own, "-o", "-").out == sanderling("feed", own).out != ""


def test_standard_output_without_room(own: Path) -> None:
    for arguments in (("pages",), ("export", "--format", "jsonl", "-o", "-"), ("feed",)):
        with Path("/dev/full").open("wb") as full:
            words = [sys.executable, "-m", "sanderling", arguments[0], str(own), *arguments[1:]]
            ran = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
        assert ran.returncode == 1
        assert ran.stderr == "sanderling: the output could not be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(closed: str, own: Path) -> None:
    for words in ("pages", "search", "crawl"):
        arguments = {"pages": str(own), "search": f"{own} the", "crawl": f"-d {own}"}[words]
        line = f"{sys.executable} -m sanderling {words} {arguments} {closed}"
        ran = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=PATIENCE)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_a_terminal_that_lacks_characters(library: Library, sanderling: Run) -> None:
    library.page("http://library.test/", "<p>Möwen ☃")
    ran = sanderling("search", library.folder.path, "*", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (ran.code, r"M\xf6wen \u2603" in ran.out) == (0, True)


def test_a_crawl_that_was_closed_well_is_read_where_nothing_can_be_written(own: Path) -> None:
    """As on a full or read-only disk: SQLite cannot write its files beside the database."""
    for path in own.glob("sanderling.db-*"):
        path.unlink()
    (own / "sanderling.db-shm").symlink_to("nowhere")
    for name in ("status", "pages", "changes", "freshness"):
        assert main([name, str(own)]) == 0


def test_a_database_that_cannot_grow(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in own.glob("sanderling.db-*"):
        path.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))  # Python ignores the signal, and the write fails
    try:
        code = main(["crawl", "-d", str(own)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, "the disk is full" in capsys.readouterr().err) == (1, True)


def test_changes_stand_in_columns(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    def column(*more: str) -> set[int]:
        assert main(["changes", str(library.folder.path), "--all", *more]) == 0
        return {line.index("http://") for line in capsys.readouterr().out.splitlines()}

    library.page("http://library.test/1", "<p>one")
    assert column() == {len("2026-11-15 20:25:09  new  ")}
    library.page(
        "http://library.test/1",
        "<b>two",
        NOW + 1,
        ChangeKind.STRUCTURE | ChangeKind.PRESENTATION | ChangeKind.TEXT | ChangeKind.IMAGE | ChangeKind.BEHAVIOUR,
    )
    assert column() == {len("2026-11-15 20:25:09  structure, presentation, text, image, behaviour  ")}


@pytest.mark.parametrize("name", ["", *COMMANDS, *(f"lab {each}" for each in EXPERIMENTS)])
def test_help_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*name.split(), "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if re.match(r"\S.*\S {3,}\S", line)] == []  # a list that was filled as prose


def test_the_lab_says_how_to_get_it_where_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sanderling.cli.lab.CHECKOUT", tmp_path)
    assert main(["lab", "ordering", "--web", "synthetic"]) == 2
    assert "not in the package" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["lab", "--help"])
    assert "pip install -e '.[lab]'" in capsys.readouterr().out


@pytest.mark.parametrize(("said", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal(said: dict[str, str], colours: bool, library: Library) -> None:
    library.page("http://library.test/", "<p>one heron")
    words = [sys.executable, "-m", "sanderling", "search", str(library.folder.path), "heron"]
    ours, theirs = os.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **said}
    assert subprocess.run(words, stdout=theirs, env=surroundings, timeout=PATIENCE).returncode == 0
    os.close(theirs)
    with os.fdopen(ours, "rb", 0) as terminal:
        assert (b"\x1b" in terminal.read(10_000)) == colours
