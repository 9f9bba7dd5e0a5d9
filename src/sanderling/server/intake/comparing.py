"""What pages that are visited again have become: each beside its last version, and all versions
when the rules change.

Imported when the first such page comes in, because the change detector takes longer to load than
all the rest of the server, and a first crawl has no use for it.
"""

from collections.abc import Mapping, Set
from datetime import datetime
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

from msgspec.structs import replace

from sanderling.change import focus
from sanderling.change.archived import ArchivedDocument, ArchivedReader
from sanderling.change.excerpt import excerpt
from sanderling.change.explain import paragraphs
from sanderling.change.judging import chooser, image_describer, judge, known_noise, rejudge, watcher
from sanderling.change.noise import volatile_places
from sanderling.change.packing import same_content, same_size
from sanderling.change.passing import only_time_passed
from sanderling.change.pixels import Decoder
from sanderling.change.rules import unmatched
from sanderling.documents.tree import Document
from sanderling.documents.visible import visible_text
from sanderling.errors import Damaged
from sanderling.model import Before, Change, ChangeKind, Stored, Task, Visit
from sanderling.repository import warc
from sanderling.repository.archive import document_in, robots_tags, type_of
from sanderling.repository.store import ComparingStore
from sanderling.server.intake.collapses import Collapses
from sanderling.server.intake.site_noise import SiteNoise
from sanderling.settings import Settings
from sanderling.urls import origin

# Of a larger document no excerpt is made: parsing both versions would hold up the server.
MOST_BYTES = 2_000_000
# When rules are read, their selectors are tried on the newest pages that they are for.
MOST_CHECKED = 20_000
MOST_READ = 100


class Comparing:
    """Judges by the fingerprints in the store and, where there are none, by the archive."""

    def __init__(self, store: ComparingStore, settings: Settings, warcs: Path) -> None:
        self._store = store
        self._warcs = warcs
        self._reader = ArchivedReader(settings)
        self._is_watched = watcher(settings.rules)
        self.rule_for = chooser(settings.rules)
        self._decoder = Decoder()
        self._describe_image = image_describer(self._decoder)
        self._templates = SiteNoise(store)
        self._remarks: list[str] = []
        self._unmatched: set[str] = set()  # selectors that were told

        self.collapses = Collapses(self.document_at)

    def close(self) -> None:
        self._decoder.close()
        self._reader.close()
        self._templates.save()

    def compare(
        self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]
    ) -> tuple[dict[int, Change], dict[int, bytes]]:
        """How those pages changed that did, and the noise of all."""
        changes: dict[int, Change] = {}
        noise: dict[int, bytes] = {}
        for visit in visits:
            if visit.id in before:
                url = tasks[visit.id].url
                site, watched, last = origin(url), self._is_watched(url), before[visit.id]
                template = self._templates.of(site)
                both = _BothVersions(self, url, last.stored, visit.stored)
                judged = judge(visit, last, self._fingerprint_anew, template, watched, both.texts, both.same_size)
                self._templates.learned(site, judged.template)
                noise[visit.id] = judged.noise
                if judged.change is not None:
                    volatile = set() if watched else volatile_places([known_noise(last.noise), template])
                    changes[visit.id] = _with_excerpt(judged.change, both, volatile)
        return changes, noise

    def compare_all_anew(self) -> int:
        """Judges the versions of every page by the rules of now; returns how many pages have a
        history."""
        count = 0
        for page, unchanged in self._store.with_history():
            versions = self._store.versions(page)
            marks = [False, *(each.marks(before) for before, each in pairwise(versions))]
            silent = [
                mark or v.kinds & ChangeKind.GONE or v.mime.startswith("image/")
                for mark, v in zip(marks, versions, strict=True)
            ]
            texts = [b"" if no else self._fingerprint_at(v.stored) for no, v in zip(silent, versions, strict=True)]
            kinds = [v.kinds for v in versions]
            watched = bool(versions) and self._is_watched(versions[0].url)
            changes, fingerprint, noise = rejudge([*zip(kinds, texts, strict=True)], unchanged, watched)
            found = [
                (after.number, _with_excerpt(change, _BothVersions(self, after.url, before.stored, after.stored)))
                for (before, after), change in zip(pairwise(versions), changes[1:], strict=True)
                if change is not None
            ]
            self._store.rejudge(page, found, fingerprint, noise)
            count += 1
        return count

    def remarks(self) -> list[str]:
        """What the user should know since the last call: each selector that matched nothing on a
        page that is new."""
        said, self._remarks = self._remarks, []
        return said

    def look_at_new(self, url: str, stored: Stored | None) -> None:
        """Notices selectors that match nothing on a page that was stored for the first time."""
        rules = self.rule_for(url)
        if stored is None or not rules or self._unmatched.issuperset((*rules.watch, *rules.keep_text)):
            return
        document = self.document_at(stored)
        for selector in unmatched(document, rules) if document else []:
            if selector not in self._unmatched:
                self._unmatched.add(selector)
                self._remarks.append(f"rules: `{selector}` matches nothing on {url}")

    def check_selectors(self) -> list[str]:
        """What the user should know of the rules: watched selectors that match on none of the
        stored pages they are for."""
        missing: dict[str, int] = {}
        matched: set[str] = set()
        seen: set[str] = set()
        for version in islice(self._store.changes(), MOST_CHECKED):
            rules = self.rule_for(version.url)
            if version.url in seen or not rules or not rules.chosen or version.kinds & ChangeKind.GONE:
                continue
            seen.add(version.url)
            if (document := self.document_at(version.stored)) is not None:
                none = unmatched(document, rules)
                matched.update(each for each in (*rules.watch, *rules.keep_text) if each not in none)
                missing |= {selector: missing.get(selector, 0) + 1 for selector in none}
            if len(seen) >= MOST_READ:
                break
        return [
            f"rules: `{selector}` matches nothing on the {_pages(count)} it is for"
            for selector, count in missing.items()
            if selector not in matched
        ]

    def document_at(self, stored: Stored) -> Document | None:
        archived = self.archived_at(stored)
        return document_in(archived) if archived is not None else None

    def archived_at(self, stored: Stored) -> warc.Archived | None:
        """A version that is not too large."""
        try:
            archived = warc.read(self._warcs, stored)
        except (Damaged, OSError):  # `sanderling check` names it
            return None
        return archived if len(archived.body) <= MOST_BYTES else None

    def _fingerprint_anew(self, before: Before) -> bytes:
        """The fingerprint of a version that is in the archive, taken the way it is taken now."""
        return b"" if before.stored is None else self._fingerprint_at(before.stored)

    def _fingerprint_at(self, stored: Stored) -> bytes:
        try:
            archived = warc.read(self._warcs, stored)
        except (Damaged, OSError):  # `sanderling check` names it
            return b""
        kind = type_of(archived)
        document = ArchivedDocument(archived.url, archived.body, kind, robots_tags(archived))
        if found := self._reader.fingerprint(origin(archived.url), document):
            return found
        return self._describe_image(archived.body) if kind.startswith("image/") else b""


class _BothVersions:
    """Two versions of a page in the archive. They are read once, when they are first asked for."""

    def __init__(self, archive: Comparing, url: str, old: Stored | None, new: Stored | None) -> None:
        self._archive = archive
        self._stored = old, new
        self.rules = archive.rule_for(url)

    @cached_property
    def archived(self) -> list[warc.Archived]:
        """Both, unless one is missing or too large."""
        read = (self._archive.archived_at(each) if each else None for each in self._stored)
        return [each for each in read if each is not None]

    @cached_property
    def whole(self) -> tuple[Document, Document] | None:
        """None if one of them is no document, or missing."""
        found = [document for each in self.archived if (document := document_in(each)) is not None]
        return (found[0], found[1]) if len(found) == 2 else None

    @cached_property
    def compared(self) -> tuple[Document, Document] | None:
        """What the rules leave of them."""
        if self.whole is None or not self.rules:
            return self.whole
        return focus(self.whole[0], self.rules), focus(self.whole[1], self.rules)

    def packed_again(self) -> bool:
        return len(self.archived) == 2 and same_content(self.archived[0].body, self.archived[1].body)

    def same_size(self) -> bool:
        return len(self.archived) == 2 and same_size(self.archived[0].body, self.archived[1].body)

    def only_time_passed(self) -> bool:
        texts = self.texts()
        return texts is not None and only_time_passed(
            *texts, *(datetime.fromisoformat(each.at).timestamp() for each in self.archived)
        )

    def texts(self) -> tuple[list[str], list[str]] | None:
        return (paragraphs(self.compared[0]), paragraphs(self.compared[1])) if self.compared else None


def _with_excerpt(change: Change, both: _BothVersions, volatile: Set[int] = frozenset()) -> Change:
    """A change with its excerpt, if both versions are documents in the archive."""
    told = change.news or change.kinds & ChangeKind.BEHAVIOUR
    if not told or change.kinds & (ChangeKind.NEW | ChangeKind.GONE):
        return change
    if both.packed_again():
        return replace(change, news=False, significance=0.01, summary="the same content, packed again")
    if not both.whole or not both.compared:
        return change
    if both.rules and (why := both.rules.conditions.objection(*map(visible_text, both.compared))):
        change = replace(change, news=False, summary=f"{change.summary}; {why}")
    if change.kinds == ChangeKind.TEXT and not (both.rules and both.rules.chosen) and both.only_time_passed():
        change = replace(change, news=False, summary=f"{change.summary}; only time has passed")
    if both.rules and both.rules.chosen:
        change = _unmatched(change, *(unmatched(each, both.rules) for each in both.whole))
    return replace(change, excerpt=excerpt(*both.compared, volatile))


def _unmatched(change: Change, before: list[str], now: list[str]) -> Change:
    """With the selectors that match no more: an event of its own, and always news."""
    lost = [f"`{selector}`" for selector in now if selector not in before]
    if not lost:
        return change
    said = f"{', '.join(lost)} no longer match{'es' * (len(lost) == 1)}"
    return replace(change, kinds=change.kinds | ChangeKind.UNMATCHED, summary=f"{said}; {change.summary}", news=True)


def _pages(count: int) -> str:
    return f"{count:,} stored page{'s' * (count != 1)}"
