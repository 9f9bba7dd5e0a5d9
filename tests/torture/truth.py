"""Compares everything that is stored with what the synthetic web served."""

from collections import Counter

from sanderling.model import ChangeKind, PageRow, Stored
from sanderling.repository import archives, checking, warc
from sanderling.repository.exchanges import exchanges
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import Store
from sanderling.testing import ServedWeb
from tests.torture.commands import marked
from tests.torture.faults import Scene


def check(scene: Scene, once: bool) -> int:
    """Nothing is lost, nothing is doubled, every record is readable, totals are counts; returns how
    many pages there are.

    `once`: every page was visited just once so far, so it is stored just once.
    """
    now = scene.site.clock.now
    with reading(scene.folder) as (folder, store):
        _compare_pages(scene.site, folder, store, now)
        findings = [each for each in checking.look(folder, store) if each.where != archives.ORPHANED]
        findings += checking.read_everything(folder, store, lambda done, whole: None)
        assert not findings, findings
        stored = Counter(_responses(folder, store))
        if once:
            doubled = {url: count for url, count in stored.items() if count > 1}
            assert not doubled, f"stored more than once: {doubled}"
        versions = Counter((row.url, row.digest) for row in store.changes() if not row.kinds & ChangeKind.GONE)
        if once:
            assert max(versions.values()) == 1
    left = marked(scene.token)
    assert not left, f"processes are left: {left}"
    socket = scene.folder / "sanderling.socket"
    assert not socket.is_symlink(), "the socket of a crawl that has ended is left"
    return len(stored)


def check_newest(scene: Scene) -> None:
    """After damage: the newest copy of every page is whole again, and older ones may be lost."""
    with reading(scene.folder) as (folder, store):
        _compare_pages(scene.site, folder, store, scene.site.clock.now)
        totals = [each for each in checking.read_everything(folder, store, lambda done, whole: None) if not each.lost]
        assert not totals, totals


def _compare_pages(site: ServedWeb, folder: Folder, store: Store, now: float) -> None:
    rows = {row.url: row for row in store.pages()}
    for url in site.direct.reachable(now):
        row = rows.get(url)
        assert row is not None, f"{url} is lost"
        assert row.state == "fetched", f"{url} is {row.state}: {row.reason}"
        assert _body(folder, row) == site.direct.body(url, now), f"{url} is not as it was served"


def _body(folder: Folder, row: PageRow) -> bytes:
    assert row.warc is not None
    return warc.read(folder.warcs, Stored(row.warc, row.offset, row.length)).body


def _responses(folder: Folder, store: Store) -> list[str]:
    """The URLs of all pages in the archives that count."""
    found = []
    for name, size in store.warcs().items():
        path = folder.warcs / name
        for each in exchanges(path, size) if path.exists() else ():
            if not each.is_revisit and not each.purpose and warc.parse(each.content).status < 300:
                found.append(each.fields["warc-target-uri"])
    return found
