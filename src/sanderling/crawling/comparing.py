"""What pages that are visited again have become: each beside its last version, and all versions
when the rules change.

Imported when the first such page comes in, because the change detector takes longer to load than
all the rest of the server, and a first crawl has no use for it.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from sanderling.change.judging import fingerprinter, image_describer, judge, rejudge
from sanderling.change.pixels import Decoder
from sanderling.crawling.site_noise import SiteNoise
from sanderling.documents.visible import visible_text
from sanderling.errors import Damaged
from sanderling.model import Before, Change, ChangeKind, Stored, Task, Visit
from sanderling.repository import warc
from sanderling.repository.archive import document_in, links_in, type_of
from sanderling.repository.store import ComparingStore
from sanderling.settings import Settings
from sanderling.urls import origin


class Comparing:
    """Judges by the fingerprints in the store and, where there are none, by the archive."""

    def __init__(self, store: ComparingStore, settings: Settings, warcs: Path) -> None:
        self._store = store
        self._settings = settings
        self._warcs = warcs
        self._fingerprint = fingerprinter(settings.rules)
        self._decoder = Decoder()
        self._describe_image = image_describer(self._decoder)
        self._templates = SiteNoise(store)

    def close(self) -> None:
        self._decoder.close()
        self._templates.save()

    def compare(
        self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]
    ) -> tuple[dict[int, Change], dict[int, bytes]]:
        """How those pages changed that did, and the noise of all."""
        changes: dict[int, Change] = {}
        noise: dict[int, bytes] = {}
        for visit in visits:
            if visit.id in before:
                site = origin(tasks[visit.id].url)
                judged = judge(visit, before[visit.id], self._fingerprint_anew, self._templates.of(site))
                self._templates.learned(site, judged.template)
                noise[visit.id] = judged.noise
                if judged.change is not None:
                    changes[visit.id] = judged.change
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
            changes, fingerprint, noise = rejudge([*zip([v.kinds for v in versions], texts, strict=True)], unchanged)
            found = [(v.number, change) for v, change in zip(versions, changes, strict=True) if change is not None]
            self._store.rejudge(page, found, fingerprint, noise)
            count += 1
        return count

    def _fingerprint_anew(self, before: Before) -> bytes:
        """The fingerprint of a version that is in the archive, taken the way it is taken now."""
        return b"" if before.stored is None else self._fingerprint_at(before.stored)

    def _fingerprint_at(self, stored: Stored) -> bytes:
        try:
            archived = warc.read(self._warcs, stored)
        except (Damaged, OSError):  # `sanderling check` names it
            return b""
        document = document_in(archived)
        if document is not None:
            links = links_in(archived, document, self._settings)
            return self._fingerprint(document, archived.url)(visible_text(document), links)
        return self._describe_image(archived.body) if type_of(archived).startswith("image/") else b""
