"""A site in a folder with its announcer, and a crawler that reads the report as it is published."""

import os
import threading
from pathlib import Path
from typing import Any

from sanderling import clock
from sanderling.announcements import Position, ReportedChange, chain, read_delta, read_manifest
from sanderling.announcements.manifest import position
from sanderling.documents.sitemaps import read as read_sitemap
from sanderling.model import Kind
from sanderling_announce.announcer import Announcer
from sanderling_announce.assembly import SiteOptions, assemble
from sanderling_announce.manifest import Manifest
from sanderling_announce.tools import PLAIN, PostAnswer
from tests.waiting import until

SITE = "https://example.org/"
LONG_AGO = 1_700_000_000


class ReportReader:
    """A crawler that reads a report from the disk; it remembers how far it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.at: Position | None = None

    def manifest(self) -> Manifest:
        content = (self.folder / "manifest.jsonl").read_bytes()
        return read_manifest(content, f"{SITE}manifest.jsonl", now=clock.now(), seen=self.at).manifest

    def listed(self) -> dict[str, float]:
        """The pages of the sitemap, by the index that the manifest names, and the dates of their
        changes."""
        base = self.manifest().base
        assert base
        index = list(read_sitemap((self.folder / base.name).read_bytes()))
        assert all(entry.kind is Kind.SOURCE for entry in index)
        parts = [(self.folder / entry.url.rpartition("/")[2]).read_bytes() for entry in index]
        return {entry.url: entry.modified for part in parts for entry in read_sitemap(part)}

    def news(self) -> list[ReportedChange]:
        """What changed since the last time; nothing the first time."""
        manifest = self.manifest()
        before, self.at = self.at, position(manifest)
        if before is None:
            return []
        assert manifest.log == before.log
        steps = chain(manifest.deltas, before.cursor, manifest.cursor)
        assert steps is not None
        found = [
            change
            for step in steps
            for change in read_delta(step, (self.folder / step.name).read_bytes(), SITE, before.cursor)
        ]
        return list({change.url: change for change in sorted(found, key=lambda each: each.cursor)}.values())

    def told(self) -> set[tuple[str, str]]:
        return {(change.url.removeprefix(SITE), change.what) for change in self.news()}


class WatchedSite:
    """An announcer that the test runs step by step. Without events each `settle` scans once."""

    def __init__(self, tmp_path: Path, **options: Any) -> None:
        self.root = tmp_path / "www"
        self.root.mkdir(exist_ok=True)
        self.tmp_path = tmp_path
        self.options = options
        self.said: list[str] = []
        self.posted: list[tuple[str, dict[str, str], bytes]] = []
        self.announcer = self.start()
        self.reader = ReportReader(self.announcer.publisher.folder)

    def start(self) -> Announcer:
        wanted: dict[str, Any] = {"events": False, "gone_after": 0.0, **self.options}
        self.wake = threading.Event()
        options = SiteOptions(folder=self.root, site=SITE, state=self.tmp_path / "state", **wanted)
        self.announcer = assemble(options, self.said.append, self.wake.set, PLAIN._replace(post=self.post))
        self.running = True
        return self.announcer

    def post(self, url: str, headers: dict[str, str], body: bytes) -> PostAnswer:
        self.posted.append((url, headers, body))
        return PostAnswer(200)

    def finish(self) -> None:
        if self.running:
            self.announcer.finish()
        self.running = False

    def restart(self) -> None:
        self.finish()
        self.start()

    def write(self, path: str, content: str = "", old: bool = True) -> Path:
        """Writes a file of long ago, so that nobody has to wait until it is settled."""
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(content or f"<p>{path}")
        if old:
            self.stamp = getattr(self, "stamp", LONG_AGO) + 1
            os.utime(where, (self.stamp, self.stamp))
        return where

    def settle(self) -> None:
        """Lets it look at everything once more, and publish what it found."""
        source: Any = self.announcer.source
        if hasattr(source, "_next_scan"):
            source._next_scan = 0.0
            source._scanned = False
        else:
            source._next, source.settled = 0.0, False

        def done() -> bool:
            self.announcer._published_at = self.announcer._sitemap_at = 0.0  # nobody waits for its pace
            self.announcer.step(clock.now())
            return self.announcer.idle

        until(done)

    def run_until(self, done: Any) -> None:
        """Runs in real time, as the command does."""

        def stepped() -> bool:
            self.wake.clear()
            due = self.announcer.step(clock.now())
            if done():
                return True
            self.wake.wait(max(0.0, min(due - clock.now(), 0.2)))
            return False

        until(stepped)
