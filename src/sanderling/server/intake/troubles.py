"""Sites that stay away, pages that show something else, and certificates that are about to end:
each is told once, and once more when it is over.

A trouble is of a page if the user watches it, else of its host: then no page of it answers. What is
told is a version of a page with the content that it had, so that it is in no comparison. The
troubles of a crawl are kept with its notes.
"""

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import msgspec

from sanderling import clock
from sanderling.clock import DAY
from sanderling.model import Before, Change, ChangeKind, HostNote, Kind, MarkedPage, Outcome, Task, Visit
from sanderling.model.reasons import code_of, sentence
from sanderling.repository.store import IntakeStore
from sanderling.settings import Settings
from sanderling.telling.baseline import baseline
from sanderling.urls import identity, origin

NOTE = "troubles"
_CERTIFICATE = "certificate "  # before a host
# Fewer failed visits may be an accident.
_VISITS = 2
# A certificate is told about so long before it ends.
CERTIFICATE_DAYS = 14
# What a page shows instead of its content is its new content after so long.
ACCEPTED_AFTER = 3 * DAY
MOST = 10_000
_FAILING = (Outcome.RETRY, Outcome.FAILED)
_ANSWERING = (Outcome.PAGE, Outcome.UNCHANGED, Outcome.REDIRECT, Outcome.GONE)
# They say nothing of the site: we asked too much, or may not ask.
_OURS = ("robots", "private-address", "login-failed", "login-refused", "login-not-tried", "proxy")


class Trouble(msgspec.Struct):
    """One trouble, from the first failed visit on."""

    page: int  # the id of the page by which it is told; 0 if that is not known yet
    since: float  # for a certificate, when it ends
    why: str
    visits: int = 1
    told: bool = False


class TroubleEvents(NamedTuple):
    """What to tell, and what to remember."""

    marked: list[MarkedPage]
    notes: dict[str, str]


class Troubles:
    """The troubles of a crawl."""

    def __init__(self, store: IntakeStore, settings: Settings) -> None:
        self._store = store
        self._patience = settings.down_after
        self._watched = {watch.url for watch in settings.watch}
        kept = store.noted(NOTE)
        self._open = msgspec.json.decode(kept, type=dict[str, Trouble]) if kept else {}
        untold = (subject for subject, trouble in self._open.items() if not trouble.page)
        self._ending = {subject.removeprefix(_CERTIFICATE) for subject in untold}  # hosts with something to tell

    def failing(self, url: str) -> bool:
        """Whether the last visits to a watched page failed."""
        return url in self._open and url in self._watched

    def accepts(self, url: str) -> bool:
        """Whether what a page has shown for days instead of its content is its content now."""
        trouble = self._open.get(self._subject(url))
        return trouble is not None and clock.now() - trouble.since > ACCEPTED_AFTER

    def hear(
        self, visits: Iterable[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before],
        excused: Set[int] | Mapping[int, float], hosts: Iterable[HostNote],
    ) -> TroubleEvents:  # fmt: skip
        """Takes note of a report. `excused` are the visits for which only our network is to
        blame."""
        now, marked, touched = clock.now(), list[MarkedPage](), False
        for visit in visits:
            known = before.get(visit.id)
            if known is None or not known.ever or visit.id in excused or tasks[visit.id].kind != Kind.PAGE:
                continue
            subject = self._subject(tasks[visit.id].url)
            if visit.outcome in _FAILING and code_of(visit.reason) not in _OURS and visit.status != 429:
                touched = True
                marked += self._fails(subject, visit, now)
            elif visit.outcome in _ANSWERING and subject in self._open:
                touched = True
                marked += self._answers(subject, visit.outcome, now)
        for note in hosts:
            if note.robots is not None and (ends := note.robots.certificate_ends):
                touched = self._notice_end(note.origin, ends, now) or touched
        if self._ending and not baseline(self._store).open:
            found = [event for place in [*self._ending] for event in self._certificate(place, now)]
            touched = touched or bool(found)
            marked += found
        notes = {NOTE: msgspec.json.encode(self._open).decode()} if touched else {}
        return TroubleEvents(marked, notes)

    def _subject(self, url: str) -> str:
        return url if url in self._watched else origin(url)

    def _fails(self, subject: str, visit: Visit, now: float) -> list[MarkedPage]:
        why = sentence(visit.reason) or f"answered {visit.status}"
        trouble = self._open.get(subject)
        if trouble is None:
            if len(self._open) < MOST:
                self._open[subject] = Trouble(visit.id, now, why)
            return []
        trouble.visits += 1
        trouble.why = why
        if trouble.told or trouble.visits < _VISITS or now - trouble.since < self._patience:
            return []
        trouble.told = True
        if subject not in self._watched:
            trouble.page = self._home(subject) or trouble.page
        place = "" if subject in self._watched else f"{subject} "
        return [_marked(trouble.page, now, ChangeKind.DOWN, f"{place}is down: {why}")]

    def _answers(self, subject: str, outcome: Outcome, now: float) -> list[MarkedPage]:
        trouble = self._open.pop(subject)
        if not trouble.told or (outcome is Outcome.GONE and subject in self._watched):  # that is told, too
            return []
        place = "" if subject in self._watched else f"{subject} "
        return [_marked(trouble.page, now, ChangeKind.UP, f"{place}is up again after {_long(now - trouble.since)}")]

    def _home(self, subject: str) -> int:
        """The front page of a host, if it is known; else 0."""
        home = identity(f"{subject}/")
        known = self._store.before([home]).get(home)
        return home if known is not None and known.there else 0

    def _notice_end(self, place: str, ends: float, now: float) -> bool:
        """Whether there is something to remember of the certificate of a host."""
        subject = _CERTIFICATE + place
        if (ends - now < CERTIFICATE_DAYS * DAY) == (subject in self._open):
            return False
        if subject not in self._open:
            self._open[subject] = Trouble(0, ends, "")
        elif not self._open[subject].told:
            del self._open[subject]
            self._ending.discard(place)
            return True
        self._ending.add(place)
        return True

    def _certificate(self, place: str, now: float) -> list[MarkedPage]:
        """What to tell of a certificate. It waits until a page of its host is there."""
        trouble = self._open[_CERTIFICATE + place]
        page = trouble.page or self._home(place) or self._any_page(place)
        if not page:
            return []
        self._ending.discard(place)
        if trouble.told:
            del self._open[_CERTIFICATE + place]
            return [_marked(page, now, ChangeKind.CERTIFICATE, f"the certificate of {place} was renewed")]
        trouble.page, trouble.told = page, True
        days = max(0, int((trouble.since - now) // DAY))
        said = f"the certificate of {place} ends in {days} day{'s' * (days != 1)}"
        return [_marked(page, now, ChangeKind.CERTIFICATE, said)]

    def _any_page(self, place: str) -> int:
        """A watched page of a host; 0 for none."""
        ids = [identity(url) for url in self._watched if origin(url) == place]
        return next((id for id, known in self._store.before(ids).items() if known.there), 0)


def _marked(page: int, at: float, kind: ChangeKind, summary: str) -> MarkedPage:
    return MarkedPage(page, at, Change(kind, 1.0, "", summary))


def _long(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes / 60:.0f} h" if minutes < 2 * 24 * 60 else f"{minutes / 60 / 24:.0f} days"
