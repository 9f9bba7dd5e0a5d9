"""The index follows the crawl, survives crashes, and reports what cannot be repaired."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tantivy

from sanderling import Crawl
from sanderling.cli import main
from sanderling.errors import BadIndex, DiskFull, IndexInUse
from sanderling.jobs import index
from sanderling.model import ChangeKind
from sanderling.processes import companion
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.search import indexing, location, writing
from sanderling.search.searching import Query, open_search
from sanderling.testing import SyntheticWeb
from tests.conftest import Run
from tests.search_library import NOW, Library
from tests.waiting import until


def some(library: Library, first: int, last: int) -> None:
    for number in range(first, last):
        library.page(f"http://a.org/{number}", f"heron number {number}", title=f"Title {number}")


def test_an_answer_says_how_far_behind_it_is(library: Library) -> None:
    some(library, 0, 3)
    with library.open() as search:
        assert search.find(Query(text="heron")).behind == search.behind() == 3
        assert search.catch_up() == 3
        assert (search.find(Query(text="heron")).total, search.behind()) == (3, 0)
        some(library, 3, 5)
        results = search.find(Query(text="heron"))
        assert (results.total, results.behind, results.documents) == (3, 2, 3)
        assert search.catch_up() == 2
        assert search.find(Query(text="heron")).total == 5
        assert search.catch_up() == 0


def test_the_process_beside_a_crawl(library: Library) -> None:
    command = [sys.executable, "-m", "sanderling.jobs.index", str(library.folder.path)]
    some(library, 0, 3)
    with library.open() as search, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: search.behind() == 0)
        some(library, 3, 6)
        until(lambda: search.behind() == 0)
        assert search.find(Query(text="heron")).total == 6
        _, errors = process.communicate()  # closes its input
        assert (process.returncode, errors) == (0, b"")


def test_one_writes_and_others_search(library: Library, sanderling: Run) -> None:
    some(library, 0, 3)
    library.find()
    some(library, 3, 4)
    where = location.current(library.folder.index)
    assert where is not None
    with contextlib.closing(writing.Writer(location.open_index(where), writing.HEAP)), library.open() as search:
        with pytest.raises(IndexInUse):
            search.catch_up()
        ran = sanderling("search", library.folder.path, "heron", "--json")
        assert (ran.code, len(ran.lines)) == (0, 3)
        assert "1 newer version is not indexed yet" in ran.err


def test_its_share_of_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"now": 100.0, "cpu": 0.0}
    monkeypatch.setattr(index.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(index.time, "process_time", lambda: clock["cpu"])
    pace = index.IndexPace()
    pauses = 0.0
    for _ in range(100):
        clock["now"] += 0.5
        clock["cpu"] += 0.5
        pause = pace.debt()
        clock["now"] += pause
        pauses += pause
    assert clock["cpu"] <= index.SHARE * (clock["now"] - 100) + index.SAVED + 0.001
    clock["now"] += 3600
    assert pace.debt() == 0
    clock["cpu"] += index.SAVED + 0.1
    assert pace.debt() == pytest.approx(0.1 / index.SHARE)


def test_killed_at_any_moment_it_goes_on(library: Library) -> None:
    some(library, 0, 40)
    script = (
        "import sys, os, pathlib\n"
        "from sanderling.search import indexing\n"
        "from sanderling.repository import opening\n"
        "from sanderling.repository.folder import Folder\n"
        "indexing.BATCH = indexing.COMMIT_EVERY = 3\n"
        "folder = Folder(pathlib.Path(sys.argv[1]))\n"
        "calls = iter(range(int(sys.argv[2])))\n"
        "indexing.catch_up(folder, opening.open_store(folder, True), lambda *_: next(calls, None) is not None or os.kill(os.getpid(), 9))\n"
    )
    for steps in (0, 1, 4, 2):
        ran = subprocess.run([sys.executable, "-c", script, str(library.folder.path), str(steps)])
        assert ran.returncode == -9
    with library.open() as search:
        assert 0 < search.behind() < 40
        search.catch_up()
        results = search.find(Query(text="heron", limit=100))
    assert results.total == len({hit.url for hit in results.hits}) == 40


def test_a_reindex_takes_over_at_once(library: Library) -> None:
    some(library, 0, 5)
    library.find()
    with library.open() as search, contextlib.closing(open_store(library.folder, readonly=True)) as store:
        during = []

        def look(done: int, all: int) -> bool:
            during.append(search.find(Query(text="heron")).total)
            return True

        assert search.find(Query(text="heron")).total == 5
        indexing.rebuild(library.folder, store, look)
        assert during == [5]
        assert search.find(Query(text="heron")).total == 5
    assert len([path for path in library.folder.index.iterdir() if path.is_dir()]) == 1


def test_who_writes_to_the_old_index_notices_the_new_one(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BATCH", 2)
    some(library, 0, 6)
    with contextlib.closing(open_store(library.folder, readonly=True)) as store:

        def overtake(done: int, all: int) -> bool:
            indexing.rebuild(library.folder, store)
            return True

        assert indexing.catch_up(library.folder, store, overtake) == 2
    with library.open() as search:
        assert search.behind() == 0
        assert search.find(Query(text="heron")).total == 6


def test_when_changes_were_judged_anew_so_is_the_index(library: Library) -> None:
    library.page("http://a.org/1", "heron", title="x")
    library.page("http://a.org/1", "heron heron", title="x", at=NOW + 1, kinds=ChangeKind.STRUCTURE)
    assert library.urls("heron", kinds=ChangeKind.STRUCTURE) == ["1"]
    library.rejudge("http://a.org/1", ChangeKind.TEXT)
    assert library.urls("heron", kinds=ChangeKind.STRUCTURE) == []
    assert library.urls("heron", kinds=ChangeKind.TEXT) == ["1"]


def spoil_current(folder: Path) -> None:
    (folder / "index" / "current").write_text("../warc\n")


def spoil_meta(folder: Path) -> None:
    next(folder.glob("index/*/meta.json")).write_text("{}")


def spoil_parts(folder: Path) -> None:
    for path in folder.glob("index/*/*.*"):
        if path.suffix in (".store", ".term", ".idx"):
            path.unlink()  # replaces the file, because this process may still have the old one open
            path.write_bytes(b"")


def spoil_by_another(folder: Path) -> None:
    where = next(folder.glob("index/*/meta.json")).parent
    shutil.rmtree(where)
    where.mkdir()
    schema = tantivy.SchemaBuilder().add_text_field("body").build()
    tantivy.Index(schema, str(where))


@pytest.mark.parametrize("spoil", [spoil_current, spoil_meta, spoil_parts, spoil_by_another])
def test_a_damaged_or_foreign_index(
    library: Library, capfd: pytest.CaptureFixture[str], spoil: Callable[[Path], None]
) -> None:
    some(library, 0, 3)
    library.find()
    spoil(library.folder.path)
    assert main(["search", str(library.folder.path), "heron"]) == 1
    told = capfd.readouterr()
    assert told.out == ""
    assert f"`sanderling reindex {library.folder.path}`" in told.err
    assert len(told.err.splitlines()) == 1
    assert main(["reindex", str(library.folder.path)]) == 0
    assert len(library.urls("heron")) == 3


def test_the_index_of_another_crawl(library: Library, tmp_path: Path) -> None:
    some(library, 0, 3)
    library.find()
    other = Library(tmp_path / "other")
    some(other, 5, 9)
    shutil.copytree(library.folder.index, other.folder.index)
    with other.open() as search:
        for ask in (search.behind, search.catch_up, lambda: search.find(Query(text="heron"))):
            with pytest.raises(BadIndex, match="belongs to another crawl"):
                ask()
    other.close()


def test_an_index_of_another_format(library: Library) -> None:
    some(library, 0, 1)
    library.find()
    where = location.current(library.folder.index)
    assert where is not None
    with contextlib.closing(writing.Writer(location.open_index(where), writing.HEAP)) as writer:
        writer.commit(writing.IndexProgress(format=99))
    with library.open() as search, pytest.raises(BadIndex, match="another version of Sanderling"):
        search.find(Query(text="heron"))


def test_an_index_of_an_older_sanderling_is_made_anew(library: Library) -> None:
    some(library, 0, 2)
    library.find()
    root = library.folder.index
    where = location.current(root)
    assert where is not None
    where.rename(root / "v1-00000000")
    (root / "current").write_text("v1-00000000\n")
    with library.open() as search:
        assert search.find(Query(text="heron")).notes == ["there is no index yet"]
    assert len(library.urls("heron")) == 2
    assert not (root / "v1-00000000").exists()


def test_a_deleted_index_loses_nothing(library: Library) -> None:
    some(library, 0, 3)
    library.find()
    shutil.rmtree(library.folder.index)
    assert len(library.urls("heron")) == 3


def test_large_pages_are_unpacked_one_after_the_other(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    some(library, 0, 5)
    monkeypatch.setattr(indexing, "UNPACKED_BYTES", 1)
    assert len(library.urls("heron")) == 5


def test_damaged_pages_are_found_by_their_address(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    some(library, 0, 2)
    archive = next(library.folder.warcs.iterdir())
    data = bytearray(archive.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    archive.write_bytes(data)
    assert library.urls("url:1") == ["1"]
    assert library.urls("heron") == ["0"]
    assert "indexed by its address only" in caplog.text


def test_an_archive_that_is_lost_is_one_complaint(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    some(library, 0, 20)
    next(library.folder.warcs.iterdir()).unlink()
    assert library.urls("url:1") == ["1"]
    assert caplog.text.count("indexed by its address only") == 1


def test_a_full_disk_is_a_sentence(library: Library, sanderling: Run) -> None:
    some(library, 0, 30)
    limited = (
        "import resource, signal, sys\n"
        "from sanderling.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", limited, "search", str(library.folder.path), "heron"], capture_output=True, text=True
    )
    assert ran.returncode in (1, 2)
    assert "Traceback" not in ran.stderr
    assert "panicked" not in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert len(sanderling("search", library.folder.path, "heron", "--json", "--limit", 50).lines) == 30


def test_no_space_left_is_told_as_such() -> None:
    with pytest.raises(DiskFull, match="no room left"), writing.write_errors():
        raise ValueError("An IO error occurred: 'No space left on device (os error 28)'")


def test_what_the_progress_note_says(library: Library) -> None:
    some(library, 0, 2)
    library.find()
    where = location.current(library.folder.index)
    assert where is not None
    progress = location.progress_of(location.open_index(where).searcher(), library.folder.index)
    assert progress.number == 2
    assert json.loads(progress.rules) == []


def test_a_crawl_keeps_its_index_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion, "FIRST_AFTER", 0.0)
    folder = Folder(tmp_path / "crawl")

    async def crawl(url: str) -> int:
        """Crawls until something is indexed."""
        async with Crawl(folder.path, seeds=[url], delay=0.05, clients=1) as running:
            async for _ in running:
                with open_search(folder) as search:
                    if found := search.find(Query(text="the")).total:
                        return found
        return 0

    with SyntheticWeb(pages=20_000, seed=4).serve() as site:
        assert asyncio.run(crawl(site.url)) > 0
