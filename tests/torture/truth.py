"""Compares everything that is stored with what the synthetic web served."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping

import sanderling
from sanderling.model import ChangeKind, PageRow, Stored
from sanderling.repository import archives, checking, warc
from sanderling.repository.exchanges import exchanges
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import Store
from sanderling.testing import ServedWeb
from tests.telling.endpoint import Endpoint
from tests.torture.commands import marked
from tests.torture.faults import Scene


def check(scene: Scene, site: ServedWeb, once: bool) -> int:
    """Nothing is lost, nothing is doubled, every record is readable, totals are counts; returns how
    many pages there are.

    `once`: every page was visited just once so far, so it is stored just once.
    """
    now = site.clock.now
    with reading(scene.folder) as (folder, store):
        _compare_pages(site, folder, store, now)
        _all_is_readable(folder, store)
        stored = Counter(_responses(folder, store))
        if once:
            doubled = {url: count for url, count in stored.items() if count > 1}
            assert not doubled, f"stored more than once: {doubled}"
        versions = Counter((row.url, row.digest) for row in store.changes() if not row.kinds & ChangeKind.GONE)
        if once:
            assert max(versions.values()) == 1
    nothing_is_left(scene)
    return len(stored)


def nothing_is_left(scene: Scene) -> None:
    left = marked(scene.token)
    assert not left, f"processes are left: {left}"
    socket = scene.folder / "sanderling.socket"
    assert not socket.is_symlink(), "the socket of a crawl that has ended is left"


def check_collection(scene: Scene, site: ServedWeb, most: int) -> int:
    """A collection has as many pages as it may, and no page comes back as news unchanged."""
    now = site.clock.now
    with reading(scene.folder) as (folder, store):
        kept = [row for row in store.pages() if row.state == "fetched"]
        assert len(kept) == min(most, len(site.direct.reachable(now))), (
            f"the collection of {most} has {len(kept)} pages"
        )
        for row in kept:
            assert _body(folder, row) == site.direct.body(row.url, now), f"{row.url} is not as it was served"
        _all_is_readable(folder, store)
        last: dict[str, bytes] = {}
        for row in sorted(store.changes(), key=lambda row: row.number):
            assert row.kinds & ChangeKind.GONE or last.get(row.url) != row.digest, f"{row.url} is stored twice"
            last[row.url] = row.digest
    nothing_is_left(scene)
    return len(kept)


def check_rendered(scene: Scene, origin: str, texts: Mapping[int, str], excused: bool) -> int:
    """Every page has what its script showed; `excused`: or it says that it was not rendered."""
    with reading(scene.folder) as (folder, store):
        rows = {row.url: row for row in store.pages()}
        _all_is_readable(folder, store)
    with sanderling.open(scene.folder) as opened:
        for number, text in texts.items():
            url = f"{origin}/page/{number}"
            assert url in rows or excused, f"{url} is lost"
            row = rows.get(url)
            if row is None or (excused and row.reason.startswith("not-rendered")):
                continue
            assert row.state == "fetched", f"{url} is {row.state}: {row.reason}"
            page = opened.page(url)
            assert page is not None and text in page.text() + " ", f"{url} is not as it was shown: {row.reason}"
    nothing_is_left(scene)
    return len(rows)


def all_were_told(scene: Scene, endpoint: Endpoint) -> None:
    """A webhook got every change once, in order."""
    command = [sys.executable, "-m", "sanderling", "changes", str(scene.folder), "--json", "--baseline"]
    told = [json.loads(line)["id"] for line in subprocess.check_output(command).splitlines()][::-1]
    assert endpoint.taken == told, f"a webhook got {len(endpoint.taken)} changes of {len(told)}"


def nothing_is_new(scene: Scene, since: str) -> None:
    """A web that did not change has no news, whatever was repaired."""
    with sanderling.open(scene.folder) as opened:
        news = [f"{each.kind} {each.url}" for each in opened.changes(since) if each.kind in ("new", "changed")]
    assert not news, f"told as news without a change: {news}"


def _all_is_readable(folder: Folder, store: Store) -> None:
    findings = [each for each in checking.look(folder, store) if each.where != archives.ORPHANED]
    findings += checking.read_everything(folder, store, lambda done, whole: None)
    assert not findings, findings


def check_newest(scene: Scene, site: ServedWeb) -> None:
    """After damage: the newest copy of every page is whole again, and older ones may be lost."""
    with reading(scene.folder) as (folder, store):
        _compare_pages(site, folder, store, site.clock.now)
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
