"""Writes the report: from the memory only, so that whatever was interrupted is written again, byte
for byte."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from sanderling_announce import clock
from sanderling_announce.change import ReportedChange
from sanderling_announce.deltas import MOST_LINES as MOST_CHANGES
from sanderling_announce.deltas import Delta, DeltaFile, chain, kept, mergers, parts_of, read_own, write_delta
from sanderling_announce.files import write_whole
from sanderling_announce.manifest import FORMAT, Base, Manifest, write_manifest
from sanderling_announce.memory import AnnouncedPage, PendingChange, SiteMemory
from sanderling_announce.naming import is_file_name, named_for
from sanderling_announce.places import MANIFEST, SITEMAP
from sanderling_announce.ranking import Ranking
from sanderling_announce.sitemap import MOST_PAGES, Listed, write_index, write_part

# A manifest is written again after this time, in seconds, to show that the announcer is alive.
HEARTBEAT = 600.0
# Days of which the manifest says how many pages were updated, before the current one.
DAYS = 7
# How long files stay that no manifest names any more, for crawlers that read the one before.
GRACE = 900.0
# Crawlers believe no manifest that is more seconds ahead of their clock.
LONGEST_STEP_BACK = 300.0


class Publisher:
    """The report of one site."""

    def __init__(
        self,
        memory: SiteMemory,
        site: str,
        url_of: Callable[[bytes], str | None],
        folder: Path,
        url: str,
        secret: bytes,
    ) -> None:
        self._memory = memory
        self._site = site
        self._url_of = url_of  # of a page by its key
        self.folder = folder
        self.url = url  # of the folder
        self._secret = secret
        folder.mkdir(parents=True, exist_ok=True)
        self._dropped: dict[str, float] = {}  # files, and when the manifest ceased to name them
        self.ranking = _from_text(memory.fact("ranking", _as_text(Ranking())))
        self._mend()

    def _mend(self) -> None:
        """Forgets deltas whose files are not there, and finishes what was interrupted."""
        lost = [delta for delta in self._memory.deltas() if not self._is_there(delta)]
        self._memory.replace_deltas(lost, ())
        newest = self._memory.cursor
        if newest and not any(delta.to == newest for delta in self._memory.deltas()):
            self._write_deltas(newest)
        named = self._named()
        now = clock.now()
        self._dropped = {name: now for name in os.listdir(self.folder) if is_file_name(name) and name not in named}

    def _is_there(self, delta: Delta) -> bool:
        try:
            return (self.folder / delta.name).stat().st_size == delta.bytes
        except OSError:
            return False

    # Deltas

    def rank_by(self, ranking: Ranking) -> None:
        """It is remembered, because a delta that is written again has to be the same."""
        if ranking != self.ranking:
            self.ranking = ranking
            self._memory.remember("ranking", _as_text(ranking))

    def publish(self) -> Counter[str]:
        """Gives all pending changes a cursor, or several, and writes their deltas. The manifest is
        to be written after it. Returns how many pages are new, changed and gone."""
        told: Counter[str] = Counter()
        while self._memory.pending:
            told += self._write_deltas(self._memory.number_next(MOST_CHANGES))
        return told

    def _write_deltas(self, cursor: int) -> Counter[str]:
        changes = [self._change(each, cursor, self.ranking) for each in self._memory.changes_of(cursor)]
        made = [write_delta(cursor - 1, cursor, changes)]
        self._write(made[0])
        deltas = [*self._memory.deltas(), made[0].delta]
        for after, to in mergers(cursor):
            parts = parts_of(deltas, after, to)
            if parts is None:
                break
            read = [each for part in parts for each in self._read(part)]
            made.append(write_delta(after, to, sorted(read, key=lambda each: each.cursor)))
            self._write(made[-1])
            deltas.append(made[-1].delta)
        # When deltas hold more lines than there are pages, the sitemap is shorter.
        stay = set(kept(deltas, cursor, max(len(self._memory), MOST_CHANGES)))
        gone = [delta for delta in deltas if delta not in stay]
        self._memory.replace_deltas(gone, [file.delta for file in made if file.delta in stay])
        self._drop([delta.name for delta in gone])
        return Counter(change.what for change in changes)

    def _change(self, change: PendingChange, cursor: int, ranking: Ranking) -> ReportedChange:
        level = ranking.level(change.url, change.depth)
        rank = ranking.rank(change.url, change.depth, change.frequency)
        return ReportedChange(change.url, change.what, change.at, cursor, rank, change.frequency, level, change.hints)

    def _write(self, file: DeltaFile) -> None:
        self._write_named(file.delta.name, file.content)

    def _write_named(self, name: str, content: bytes) -> None:
        """Beside what is there under this name, which others may have made a link."""
        write_whole(self.folder / name, content, sync=False)

    def _read(self, delta: Delta) -> list[ReportedChange]:
        return read_own(delta, (self.folder / delta.name).read_bytes())

    def changes_after(self, cursor: int) -> Iterator[ReportedChange]:
        """What was published after a cursor, as far back as there are deltas."""
        for delta in chain(self._memory.deltas(), cursor, self._memory.cursor) or ():
            yield from (each for each in self._read(delta) if each.cursor > cursor)

    # Sitemap

    def write_sitemap(self) -> Iterator[None]:
        """Writes the sitemap of all pages. It pauses after each part, because a million pages take
        seconds."""
        cursor, ranking = self._memory.cursor, self.ranking
        parts: list[tuple[str, float]] = []
        page: list[AnnouncedPage] = []
        rows = self._memory.pages()
        while page := [row for _, row in zip(range(MOST_PAGES), rows)]:
            listed = [
                Listed(url, row.changed, min(ranking.rank(url, row.depth, row.frequency), 1.0))
                for row in page
                if (url := self._url_of(row.key))
            ]
            content = write_part(listed)
            name = named_for(f"sitemap-part-{len(parts)}", content, "xml")
            self._write_named(name, content)
            parts.append((self.url + name, max((each.changed for each in listed), default=0.0)))
            yield
        index = write_index(parts)
        name = named_for(f"sitemap-{cursor}", index, "xml")
        self._write_named(name, index)
        write_whole(self.folder / SITEMAP, index, sync=False)
        before = self._named()
        self._memory.remember("base", name)
        self._memory.remember("base_cursor", cursor)
        self._memory.remember("base_parts", "\n".join(url.removeprefix(self.url) for url, _ in parts))
        self._drop(before - self._named())

    # Manifest

    def write_manifest(self, now: float, complete: bool, alive: bool = True) -> None:
        """Says that the report is as the memory has it; `alive`, that there will be another one."""
        memory = self._memory
        base = memory.fact("base", "")
        # Never older than the last one, so that crawlers believe it after the clock was set back a
        # little. One from the future was believed by nobody.
        last = memory.fact("generated", 0.0)
        now = last if now < last <= now + LONGEST_STEP_BACK else now
        memory.remember("generated", now)
        manifest = Manifest(
            format=FORMAT,
            site=self._site,
            log=memory.log,
            cursor=memory.cursor,
            generated=now,
            until=now + 2 * HEARTBEAT if alive else now,
            complete=complete,
            pages=len(memory),
            base=Base(memory.fact("base_cursor", 0), base) if base else None,
            deltas=tuple(memory.deltas()),
            updated=tuple(memory.updated(int(now // clock.DAY) - DAYS)),
            taken_until=memory.fact("taken_until", 0.0),
            taken_by=memory.fact("taken_by", ""),
        )
        write_whole(self.folder / MANIFEST, write_manifest(manifest, self._secret), sync=False)
        self._remove_dropped()

    def _named(self) -> set[str]:
        """The files that the manifest names, and the sitemap's parts."""
        deltas = {delta.name for delta in self._memory.deltas()}
        return deltas | {self._memory.fact("base", ""), *self._memory.fact("base_parts", "").split("\n")}

    def _drop(self, names: list[str] | set[str]) -> None:
        now = clock.now()
        self._dropped |= {name: self._dropped.get(name, now) for name in names if name}

    def _remove_dropped(self) -> None:
        now = clock.now()
        if not self._dropped or now - next(iter(self._dropped.values())) <= GRACE:
            return
        named = self._named()
        for name, since in list(self._dropped.items()):
            if name in named:
                del self._dropped[name]
            elif now - since > GRACE:
                (self.folder / name).unlink(missing_ok=True)
                del self._dropped[name]


def _as_text(ranking: Ranking) -> str:
    return "\n".join([str(ranking.least), str(ranking.most), str(ranking.length), *sorted(ranking.linked)])


def _from_text(text: str) -> Ranking:
    least, most, length, *linked = text.split("\n")
    return Ranking(int(least), int(most), int(length), frozenset(linked))
