"""Versions that are not kept leave archives, database and index; whatever happens, nothing else
does."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sanderling.cli import main
from sanderling.clock import DAY
from sanderling.model import ChangeKind, Exchange
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.warc import WarcReader
from sanderling.search.searching import Query, open_search
from sanderling.settings import load
from sanderling.telling import record
from sanderling.urls import identity
from tests.conftest import FAST, Run
from tests.search_library import NOW, Library
from tests.servers import PageServer

PAGE = "http://a.org/p"


def history(library: Library, url: str = PAGE) -> list[str]:
    """The texts of the versions of a page, as the archive has them."""
    with contextlib.closing(open_store(library.folder, readonly=True)) as store:
        rows = store.versions(identity(url))
    with contextlib.closing(WarcReader(library.folder.warcs)) as reader:
        return [reader.read(row.stored).body.decode().rpartition(">")[2] for row in rows]


def fill(library: Library, count: int, url: str = PAGE) -> None:
    for n in range(1, count + 1):
        library.page(url, f"word{n} sandpiper", at=NOW + n * DAY, title="T")


def archived(folder: Path) -> list[tuple[str, str]]:
    """The type and the URL of each record, as an independent reader sees them."""
    found = []
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for each in ArchiveIterator(file, check_digests="raise"):
                found.append((each.rec_type, each.rec_headers.get_header("WARC-Target-URI") or ""))
    return found


@pytest.fixture(params=["folder", "postgresql"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    """A crawl folder in each kind of store."""
    store = {} if request.param == "folder" else {"store": f"{request.getfixturevalue('postgres').dsn}"}
    if store:
        from sanderling.repository.address import located

        (tmp_path / "pg").mkdir()
        store = {"store": located(store["store"], tmp_path / "pg") or ""}
    with contextlib.closing(Library(tmp_path / "crawl", **store)) as made:
        yield made


def test_pruned_versions_are_nowhere(shelf: Library, capsys: pytest.CaptureFixture[str]) -> None:
    fill(shelf, 6)
    library, other = shelf, "http://a.org/other"
    library.page(other, "word0 plover", at=NOW, title="O")
    library.page(other, "", at=NOW + DAY, title="O")
    library.gone(other, NOW + 2 * DAY)
    place = str(library.folder.path)
    assert library.urls("word2", versions=True) == ["p"]
    before = len(archived(library.folder.path))
    library.close()  # nobody writes to it any more
    assert main(["prune", place, "--keep", "2 versions", "--dry-run"]) == 0
    assert "5 versions of 2 pages would be removed" in capsys.readouterr().out
    assert len(archived(library.folder.path)) == before
    assert main(["prune", place, "--keep", "2 versions"]) == 0
    assert "5 versions of 2 pages removed" in capsys.readouterr().out
    assert history(library) == ["word5 sandpiper", "word6 sandpiper"]
    with open_search(library.folder) as search:  # without another catch-up
        assert [search.find(Query(text=f"word{n}", versions=True)).total for n in range(7)] == [0, 0, 0, 0, 0, 1, 1]
        (hit,) = search.find(Query(text="word5", versions=True)).hits
        assert (hit.version, hit.until) == (1, NOW + 6 * DAY)
        assert search.behind() == 0
    kinds = archived(library.folder.path)
    assert kinds.count(("response", PAGE)) == 2
    assert kinds.count(("response", other)) == 2  # its last content, and that it is gone
    assert len([*library.folder.warcs.glob("*.warc.gz")]) == 1
    assert main(["prune", place, "--keep", "2 versions"]) == 0
    assert "0 versions of 0 pages removed" in capsys.readouterr().out


def test_the_last_content_of_a_page_that_is_gone_stays(library: Library) -> None:
    fill(library, 2)
    library.gone(PAGE, NOW + 9 * DAY)
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    assert history(library) == ["word2 sandpiper", ""]


def test_a_version_stays_as_long_as_a_picture_marks_it(library: Library) -> None:
    """A version that says that an image changed has the content of the one before."""
    from sanderling.model import Change, Commit, Counts, MarkedPage

    fill(library, 3)
    marked = MarkedPage(identity(PAGE), NOW + 5 * DAY, Change(ChangeKind.IMAGE, 0.5, "", "an image"))
    library._store.commit(Commit("marks", 1, [], [], [], [], {}, Counts(), marked=[marked]))
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    assert history(library) == ["word3 sandpiper"]


def test_what_somebody_waits_for_stays(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    fill(library, 5)
    folder, place = library.folder, str(library.folder.path)
    with folder.settings.open("a") as file:
        file.write('keep = "1 version"\n[[webhook]]\nurl = "http://127.0.0.1:9/"\n')
    load(folder.settings)
    record.enrol(folder.webhooks, "http://127.0.0.1:9/", 2)  # has got two of them
    folder.readers.mkdir()
    (folder.readers / "mine").write_text("3.0")
    assert main(["prune", place]) == 0
    said = capsys.readouterr().out
    assert "2 versions stay until the webhook at 127.0.0.1, the reader mine was told" in said
    assert [each[:5] for each in history(library)] == ["word3", "word4", "word5"]
    record.write(folder.webhooks, "http://127.0.0.1:9/", record.DeliveryRecord(delivered=5))
    assert main(["prune", place]) == 0
    assert [each[:5] for each in history(library)] == ["word4", "word5"]  # the reader has seen three


def test_a_base_of_other_visits_stays(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    """A revisit record says no more than which record has the content."""
    fill(library, 3)
    with contextlib.closing(open_store(library.folder, readonly=True)) as store:
        first, second, _ = [row.stored for row in store.versions(identity(PAGE))]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    for url, at, base in ((PAGE, 1.5, first), ("http://a.org/copy", 2.5, second)):
        library._archive.add(
            Exchange(
                url, NOW + at * DAY, b"", head, b"", "text/html", "", False, "", b"", revisit="same", original=base
            )
        )
    library.page("http://a.org/q", "end", at=NOW + 9 * DAY, title="Q")  # commits the archive
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    assert "1 version stay: later visits in the archives refer to them" in capsys.readouterr().out
    assert [each[:5] for each in history(library)] == ["word2", "word3"]
    kinds = archived(library.folder.path)
    assert ("revisit", "http://a.org/copy") in kinds
    assert ("revisit", PAGE) not in kinds  # it left with the version that it was a visit of


def test_damaged_and_linked_archives_stay_as_they_are(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    fill(library, 3)
    (path,) = library.folder.warcs.glob("*.warc.gz")
    packed = bytearray(path.read_bytes())
    packed[-40:-20] = b"\0" * 20
    path.write_bytes(packed)
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    assert f"{path.name} stays as it is: {path.name} is damaged at byte" in capsys.readouterr().out
    assert path.read_bytes() == packed
    elsewhere = library.folder.path.parent / path.name
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    assert f"{path.name} stays as it is: it is a link" in capsys.readouterr().out
    assert path.is_symlink()


def test_mistakes(library: Library, sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("prune", library.folder.path)
    assert ran.code == 2
    assert "keeps every version: give --keep, such as --keep thin, or set keep in" in ran.err
    ran = sanderling("prune", library.folder.path, "--keep", "a month")
    assert ran.code == 2
    assert "'a month': keep must be all, thin, an age such as 30d or 12h, or a number such as '100 versions'" in ran.err
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "new", "--keep", "5")
    assert ran.code == 2
    assert "keep = '5' is not all, thin, an age" in ran.err
    ran = sanderling("watch", "http://127.0.0.1:9/", "--keep", "thick", "-d", tmp_path / "w")
    assert ran.code == 2
    assert not (tmp_path / "w" / "sanderling.toml").exists()


def killed_at(number: int, place: Path) -> int:
    """Prunes in a child that is killed at the nth time it opens, renames or removes an archive;
    returns how often it did that."""
    read, write = os.pipe()
    if not (child := os.fork()):
        seen = 0

        def look(event: str, given: tuple[object, ...]) -> None:
            nonlocal seen
            if event in ("open", "os.rename", "os.remove") and str(place / "warc") in str(given[0]):
                seen += 1
                if seen == number:
                    os._exit(9)

        sys.addaudithook(look)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = main(["prune", str(place), "--keep", "1 version"])
        os.write(write, str(seen).encode())
        os._exit(code)
    os.close(write)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert code == (0 if said else 9)
    return int(said or 0)


def test_a_kill_at_any_point_loses_nothing(sanderling: Run, tmp_path: Path) -> None:
    table = {
        "/": lambda n: f"<title>T</title><p>turn {n} <a href=/a>a</a>".encode(),
        "/a": b"<title>A</title><p>the same",
    }
    folder = tmp_path / "crawl"
    with PageServer(table) as site:  # type: ignore[arg-type]
        assert sanderling("crawl", site.origin, "-d", folder, "--clients", 1, "--no-sitemaps", *FAST).code == 0
        for _ in range(2):
            assert sanderling("crawl", "-d", folder, "--again", *FAST).code == 0
        assert len(sanderling("history", folder, site.origin, "--json").lines) == 3
        number = 0
        done = False
        while not done:
            number += 1
            copy = tmp_path / f"copy-{number}"
            shutil.copytree(folder, copy)
            done = killed_at(number, copy) > 0
            assert main(["prune", str(copy), "--keep", "1 version"]) == 0
            for path, text in (("/", "turn"), ("/a", "the same")):
                with contextlib.closing(WarcReader(copy / "warc")) as reader:
                    with contextlib.closing(open_store(Folder(copy), readonly=True)) as store:
                        (row,) = store.versions(identity(f"{site.origin}{path}"))
                    assert text in reader.read(row.stored).body.decode()
            assert main(["check", str(copy), "--deep"]) == 0
            assert not [*(copy / "warc").glob("*.part")]
            assert len([*(copy / "warc").glob("*.warc.gz")]) == 2  # that of the last visit stays as it is
        assert number > 10
        assert sanderling("crawl", "-d", copy, "--again", *FAST).code == 0  # and goes on
        assert len(sanderling("history", copy, site.origin, "--json").lines) == 2


def test_a_run_prunes_once_a_day(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": lambda n: f"<title>T</title><p>turn {n}".encode()}) as site:  # type: ignore[arg-type, dict-item]
        run = [*FAST, "--keep", "1 version"]
        assert sanderling("crawl", site.origin, "-d", folder, "--no-sitemaps", *run).code == 0
        for days, versions in ((0, 2), (0, 3), (2, 2)):
            ahead = {"SANDERLING_AHEAD": str(days * DAY)}
            ran = sanderling("crawl", "-d", folder, "--again", *FAST, env=ahead)
            assert ran.code == 0
            assert ("removed 2 versions that are not kept" in ran.err) == bool(days)
            assert len(sanderling("history", folder, site.origin, "--json").lines) == versions
