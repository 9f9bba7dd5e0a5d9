"""What an announcer finds in a folder: changes of content, each once, and nothing else."""

import os
import shutil
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sanderling_announce import content, dirty, folder, scanning
from sanderling_announce.errors import CannotAnnounce
from tests.announcer.sites import LONG_AGO, SITE, WatchedSite
from tests.waiting import until


@pytest.fixture
def site(tmp_path: Path) -> Any:
    made = WatchedSite(tmp_path)
    made.write("index.html", '<a href="/a.html">a</a>')
    for name in ("a.html", "b.html", "deep/er/c.html"):
        made.write(name)
    made.settle()
    assert made.reader.told() == set()
    yield made
    made.finish()


def test_the_first_scan_is_the_base(site: WatchedSite) -> None:
    manifest = site.reader.manifest()
    assert (manifest.cursor, manifest.pages, manifest.complete) == (0, 4, True)
    assert manifest.until > time.time()
    # Dates are those of the files.
    assert site.reader.listed() == {
        SITE: LONG_AGO + 1,
        f"{SITE}a.html": LONG_AGO + 2,
        f"{SITE}b.html": LONG_AGO + 3,
        f"{SITE}deep/er/c.html": LONG_AGO + 4,
    }


def test_changes_of_content_are_announced_once(site: WatchedSite) -> None:
    site.write("a.html", "other words")
    site.write("new/d.html")
    (site.root / "b.html").unlink()
    (site.root / "deep").rename(site.root / "moved")
    site.settle()
    assert site.reader.told() == {
        ("a.html", "changed"), ("new/d.html", "new"), ("b.html", "gone"), ("deep/er/c.html", "gone"), ("moved/er/c.html", "new"),
    }  # fmt: skip
    site.settle()
    assert site.reader.told() == set()
    assert set(site.reader.listed()) == {SITE, f"{SITE}a.html", f"{SITE}new/d.html", f"{SITE}moved/er/c.html"}


def test_only_pages_that_links_lead_to_are_listed(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, linked_only=True)
    site.write(
        "index.html", '<a href="/a.html?from=top#x">a</a><iframe src="frame.html"></iframe><a href="http://o.org/">o'
    )
    site.write("a.html", '<a href="deep/er/c.html">c</a> <a href="gone.html">g</a>')
    for name in ("frame.html", "deep/er/c.html", "draft.html"):
        site.write(name)
    site.settle()
    listed = {SITE, f"{SITE}a.html", f"{SITE}frame.html", f"{SITE}deep/er/c.html"}
    assert site.reader.told() == set() and set(site.reader.listed()) == listed
    site.write("deep/er/c.html", '<a href="/draft.html">published')
    site.write("secret.html")
    site.settle()
    assert site.reader.told() == {("deep/er/c.html", "changed"), ("draft.html", "new")}
    (site.root / "draft.html").unlink()
    site.write("index.html", "no links any more")
    site.write("a.html", "another text")
    site.settle()
    assert site.reader.told() == {("draft.html", "gone"), ("", "changed"), ("a.html", "changed")}
    site.finish()


def test_a_link_brings_a_page_at_once(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, linked_only=True, events=True)
    site.write("index.html", "nothing yet")
    site.write("draft.html")
    site.settle()
    assert site.reader.told() == set() and set(site.reader.listed()) == {SITE}
    site.write("index.html", '<a href="draft.html">out now</a>')
    told = set[tuple[str, str]]()

    def is_told() -> bool:
        site.settle()
        told.update(site.reader.told())
        return ("draft.html", "new") in told

    until(is_told)
    site.finish()


def test_dates_ranks_and_levels_are_exact(site: WatchedSite) -> None:
    for words in ("one", "two"):
        written = time.time() - 0.5
        os.utime(site.write("a.html", words), (written, written))
        site.settle()
    site.write("deep/er/c.html", "three")
    site.settle()
    found = {change.url.removeprefix(SITE): change for change in site.reader.news()}
    # a.html is linked from the main page and changed most; c.html once of at most two times.
    assert (found["a.html"].frequency, found["a.html"].level, found["a.html"].rank) == (2, 0.5, 1.0)
    assert (found["deep/er/c.html"].frequency, found["deep/er/c.html"].level, found["deep/er/c.html"].rank) == (
        1,
        0.4,
        0.65,
    )
    assert site.reader.listed()[f"{SITE}a.html"] == pytest.approx(found["a.html"].at, abs=0.002)


def test_a_file_that_was_only_touched_did_not_change(site: WatchedSite) -> None:
    for path in site.root.rglob("*.html"):
        same = path.read_text()
        path.unlink()
        path.write_text(same)
        os.utime(path, (LONG_AGO + 1000, LONG_AGO + 1000))
    site.settle()
    assert site.reader.told() == set()
    assert site.announcer.memory.cursor == 0


def test_hidden_and_temporary_files_and_others_are_no_pages(site: WatchedSite) -> None:
    for name in (".a.html.swp", "a.html~", ".well-known/x.html", "style.css", "#a.html#", "b.html.tmp"):
        site.write(name)
    os.mkfifo(site.root / "pipe.html")
    site.settle()
    assert site.reader.told() == set()


def test_links_lead_nowhere_outside_and_not_in_circles(site: WatchedSite, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.html").write_text("secret")
    (site.root / "out").symlink_to(secret)
    (site.root / "out.html").symlink_to(secret / "s.html")
    (site.root / "broken.html").symlink_to("nowhere.html")
    (site.root / "deep" / "round").symlink_to(site.root)
    (site.root / "up").symlink_to("..")
    (site.root / "in.html").symlink_to("a.html")
    (site.root / "latest").symlink_to("deep")
    site.settle()
    assert site.reader.told() == {("in.html", "new"), ("latest/er/c.html", "new")}
    (site.root / "in.html").unlink()
    (site.root / "in.html").symlink_to(secret / "s.html")
    site.settle()
    assert site.reader.told() == {("in.html", "gone")}


def test_a_folder_with_very_many_names_is_read_in_parts(tmp_path: Path) -> None:
    names = [f"{letter}{number}.html" for letter in "zab" for number in range(20)]
    for name in names:
        (tmp_path / name).write_text("x")
    (tmp_path / "a1").mkdir()
    (tmp_path / "a1" / "inside.html").write_text("x")
    for most in (1, 3, 7, 60, 61, 62):
        found = [file.path for file in scanning.Walk(os.fsencode(tmp_path), most_names=most).files()]
        assert found == sorted([*map(os.fsencode, names), b"a1/inside.html"])
    # However many there are, few are in memory.
    assert scanning.smallest((b"%06d" % (n * 7919 % 100_003) for n in range(100_003)), b"000004", 3) == (
        [b"000005", b"000006", b"000007"],
        True,
    )


def test_a_file_that_is_being_written_is_waited_for(site: WatchedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was emptied this moment, or it grows while it is read."""
    site.write("a.html", " ", old=False).write_text("")
    assert not site.announcer.memory.pending
    source: Any = site.announcer.source
    source._next_scan = 0.0
    site.announcer.step(time.time())
    assert not site.announcer.source.settled and not site.announcer.memory.pending

    seen = content._is_same
    answers = [True, False]
    monkeypatch.setattr(content, "_is_same", lambda *given: answers.pop(0) if answers else seen(*given))
    site.write("a.html", "half")
    site.settle()
    assert not answers
    assert site.reader.told() == {("a.html", "changed")}


def test_what_does_not_count_as_content(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, ignore=("<!-- built .*? -->",))
    site.write("a.html", "text <!-- built 12:00 -->")
    site.settle()
    site.reader.news()
    site.write("a.html", "text <!-- built 13:00 -->")
    site.settle()
    assert site.reader.told() == set()
    site.write("a.html", "texts <!-- built 13:00 -->")
    site.settle()
    assert site.reader.told() == {("a.html", "changed")}
    site.finish()


def test_a_restart_reads_no_unchanged_file_again(site: WatchedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.finish()
    assert site.reader.manifest().until <= time.time()  # nobody watches: silence means nothing
    site.write("b.html", "changed meanwhile")
    opened: list[bytes] = []
    monkeypatch.setattr(
        folder, "read", lambda root, file, *rest: opened.append(file.path) or content.read(root, file, *rest)
    )
    site.start()
    site.settle()
    assert opened == [b"b.html"]
    assert site.reader.told() == {("b.html", "changed")}


def test_a_file_with_an_old_date_that_came_meanwhile_changed_now(site: WatchedSite) -> None:
    before = time.time()
    site.finish()
    site.write("a.html", "from a backup of long ago")
    site.start()
    site.settle()
    (change,) = site.reader.news()
    assert change.at >= before


def test_a_first_scan_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_TOGETHER", 100)
    monkeypatch.setattr(folder, "SLICE", 0.0)
    site = WatchedSite(tmp_path)
    for number in range(350):
        site.write(f"{number}.html")
    site.announcer.step(time.time())
    site.announcer.step(time.time())
    done = len(site.announcer.memory)
    assert 100 <= done < 350 and not site.announcer.source.complete
    assert not (site.root / ".well-known/sanderling/manifest.jsonl").exists()
    site.restart()
    assert len(site.announcer.memory) == done
    site.settle()
    assert len(site.reader.listed()) == 350
    assert site.announcer.memory.cursor == 0
    site.finish()


def test_a_folder_that_vanishes_is_not_a_site_that_is_gone(site: WatchedSite) -> None:
    away = site.root.with_name("away")
    site.root.rename(away)
    source: Any = site.announcer.source
    source._next_scan = 0.0
    site.announcer.step(time.time())
    assert "cannot be read" in site.said[-1]
    site.root.mkdir()  # where a disk is not mounted
    site.announcer.step(time.time())
    assert "empty" in site.said[-1]
    site.root.rmdir()
    away.rename(site.root)
    site.settle()
    assert "watched again" in site.said[-1]
    assert site.reader.told() == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_left_as_it_was(site: WatchedSite) -> None:
    (site.root / "deep").chmod(0)
    site.settle()
    (site.root / "deep").chmod(0o755)
    assert "cannot be read" in site.said[-1]
    assert site.reader.told() == set()


def test_what_cannot_be_read_is_left_as_it_was(site: WatchedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, for tests that run as root."""
    scandir = os.scandir

    def refusing(where: Any) -> Any:
        if where.endswith(b"/deep"):
            raise PermissionError(13, "Permission denied")
        return scandir(where)

    monkeypatch.setattr(os, "scandir", refusing)
    site.settle()
    assert "1 folders cannot be read, such as deep/" in site.said[-1]
    assert site.reader.told() == set()


def test_other_options_begin_a_new_log(site: WatchedSite) -> None:
    before = site.reader.manifest().log
    site.finish()
    site.options = {"maps": ("**.html=**",)}
    site.start()
    site.settle()
    assert site.reader.manifest().log != before
    assert f"{SITE}a" in site.reader.listed() and f"{SITE}a.html" not in site.reader.listed()


def test_two_announcers_do_not_share_a_memory(site: WatchedSite) -> None:
    with pytest.raises(CannotAnnounce, match="another announcer"):
        site.start()


def test_a_publication_that_was_interrupted_is_written_again_the_same(site: WatchedSite) -> None:
    site.write("a.html", "words")
    site.settle()
    (delta,) = site.announcer.memory.deltas()
    file = site.announcer.publisher.folder / delta.name
    before = file.read_bytes()
    site.finish()
    file.unlink()  # as if it had never been written
    site.start()
    assert file.read_bytes() == before
    site.settle()
    assert site.reader.told() == {("a.html", "changed")}


def test_many_changes_at_once_are_several_cursors(site: WatchedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    from sanderling_announce import publishing

    monkeypatch.setattr(publishing, "MOST_CHANGES", 10)
    for number in range(25):
        site.write(f"many/{number}.html")
    site.settle()
    assert site.announcer.memory.cursor == 3
    assert len(site.reader.told()) == 25


@pytest.mark.skipif(sys.platform != "linux", reason="the waits are those of inotify")
def test_events_bring_changes_at_once(tmp_path: Path) -> None:
    """No scan is due for an hour: only events can have told."""
    site = WatchedSite(tmp_path, events=True, gone_after=0.2)
    for name in ("a.html", "b.html", "c.html", "old/d.html"):
        site.write(name)
    site.run_until(lambda: site.announcer.source.complete and (site.reader.folder / "manifest.jsonl").exists())
    site.reader.news()
    told: set[tuple[str, str]] = set()

    def heard(*wanted: tuple[str, str]) -> None:
        def all_told() -> bool:
            told.update(site.reader.told())
            return set(wanted) <= told

        site.run_until(all_told)
        assert told == set(wanted)
        told.clear()

    site.write("a.html", "changed", old=False)
    heard(("a.html", "changed"))
    beside = site.write("b.html.tmp", "written beside and renamed", old=False)
    beside.replace(site.root / "b.html")
    (site.root / "c.html").unlink()
    heard(("b.html", "changed"), ("c.html", "gone"))
    # A folder that is moved in, one that is moved, one that is removed.
    ready = tmp_path / "ready"
    ready.mkdir()
    (ready / "e.html").write_text("e")
    ready.rename(site.root / "in")
    heard(("in/e.html", "new"))
    (site.root / "old").rename(site.root / "new")
    heard(("old/d.html", "gone"), ("new/d.html", "new"))
    shutil.rmtree(site.root / "new")
    heard(("new/d.html", "gone"))
    # The site is built anew: the folder itself is another one, and most pages are the same.
    shutil.copytree(site.root, tmp_path / "built")
    (tmp_path / "built" / "a.html").write_text("built")
    shutil.rmtree(site.root)
    (tmp_path / "built").rename(site.root)
    heard(("a.html", "changed"))
    site.write("b.html", "after the build", old=False)
    heard(("b.html", "changed"))
    site.finish()


def test_paths_wait_until_nothing_happens_to_them() -> None:
    paths = dirty.DirtyPaths(lambda: None)
    paths.touch(b"a", 100.0, "modified")
    assert paths.take(100.5, 9) == [] and paths.take(101.5, 9) == [b"a"]
    paths.touch(b"a", 101.0, "closed")
    assert paths.take(101.05, 9) == [] and paths.take(101.2, 9) == [b"a"]


@pytest.mark.skipif(sys.platform != "linux", reason="only inotify says when a file is closed")
def test_a_writer_that_keeps_a_file_open_is_waited_for(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, events=True)
    site.write("a.html")
    site.run_until(lambda: site.announcer.idle)
    site.reader.news()
    with (site.root / "a.html").open("w") as file:
        for half in ("half, ", "and the other half"):
            file.write(half)
            file.flush()
            site.write(f"{len(half)}.html", old=False)
            site.run_until(lambda half=half: (f"{len(half)}.html", "new") in site.reader.told())
            assert site.announcer.memory.page(b"a.html").frequency == 0
    site.run_until(lambda: site.announcer.memory.page(b"a.html").frequency == 1)
    site.finish()


def test_too_many_events_are_a_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dirty, "MOST", 10)
    paths = dirty.DirtyPaths(lambda: None)
    for number in range(11):
        paths.touch(b"%d" % number, 0.0, "closed")
    assert paths.next_at() == 0.0
    assert paths.take_folder() == b""
    assert paths.take_folder() is None


def test_a_damaged_memory_is_named(site: WatchedSite) -> None:
    site.finish()
    (site.tmp_path / "state" / "announcer.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(Exception, match="damaged") as caught:
        site.start()
    assert not isinstance(caught.value, sqlite3.Error)
    (site.tmp_path / "state" / "announcer.db").unlink()
    site.start()
