"""Whatever happens to a crawl, its totals are what a full count of the rows says."""

import contextlib
import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from sanderling.model import Found, Kind, NewUrl, Outcome, Reworked, State, Stored, Task, Visit, VisitReport
from sanderling.model.reasons import reason
from sanderling.repository.address import located
from sanderling.repository.folder import Folder
from sanderling.repository.postgres import PostgresStore
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store
from sanderling.server import assembly
from sanderling.server.assembly import Purpose, assemble
from sanderling.server.frontier.collection import LEFT, PageCollection, Swap
from sanderling.server.frontier.ledger import TOTALS
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons, Released
from sanderling.server.members.clients import set_aside
from sanderling.settings import Settings
from sanderling.testing.postgres import PostgresServer
from sanderling.urls import identity

SEED = "http://a.test/"
URLS = [f"http://{host}.test/{path}" for host in ("a", "b") for path in ("", "x/1", "x/2", "y/1", "y/2", "z?q=1")]
SITEMAPS = ["http://a.test/sitemap.xml", "http://b.test/sitemap.xml"]
# Not a reason that the gate itself would release.
HELD, MERGED = reason("network", "held"), reason("merged-visited")
CLIENT = "0123456789ab"

ANSWERS: list[dict[str, Any]] = [
    {"outcome": Outcome.PAGE, "status": 200},
    {"outcome": Outcome.PAGE, "status": 200, "truncated": True},
    {"outcome": Outcome.REDIRECT, "status": 301},
    {"outcome": Outcome.GONE, "status": 404},
    {"outcome": Outcome.FAILED, "status": 403},
    {"outcome": Outcome.FAILED},
    {"outcome": Outcome.RETRY, "status": 503},
    {"outcome": Outcome.EXCLUDED},
]
AGAIN: list[dict[str, Any]] = [
    {"outcome": Outcome.UNCHANGED, "status": 304},
    {"outcome": Outcome.UNCHANGED, "status": 200},
]

Open = Callable[[], Store]


class FickleGate(Gatekeeper):
    """Holds back, merges and releases URLs at random, to reach more states than a few pages
    would."""

    store: Store
    whim: Callable[[], bool]

    def place(self, row: NewUrl, unknown: Any) -> list[NewUrl]:
        rows = super().place(row, unknown)
        if rows[0].state is State.QUEUED and row.depth and self.whim():
            return [rows[0]._replace(state=State.KNOWN, reason=HELD)]
        return rows

    def strict(self, host: int) -> bool:
        return True

    def recheck(self, task: Task, host: int, unknown: Any) -> tuple[Reworked, list[NewUrl]] | None:
        if task.kind != Kind.PAGE or not task.depth or not self.whim():
            return None
        if self.whim():
            return Reworked(task.id, State.KNOWN, HELD), []
        text = task.url.partition("?")[0] + "?merged"
        rows = [NewUrl(identity(text), text, host, task.depth, State.QUEUED, 0.0, 0, 0, "", "")]
        new = rows if unknown({identity(text): text}) else []
        return Reworked(task.id, State.EXCLUDED, MERGED, identity(text)), new

    def learn(self, visits: list[tuple[Visit, Task]]) -> Lessons:
        lessons = super().learn(visits)
        if self.whim():
            lessons.released += [Released(id, host, depth, State.KNOWN) for id, host, depth, _ in self._rows(0, HELD)]
        if self.whim():
            lessons.released += [Released(*row[:3], State.EXCLUDED) for row in self._rows(6, MERGED)]
        return lessons

    def _rows(self, state: int, reason: str) -> list[Any]:
        return self.store.select(
            "SELECT id, host, depth, url FROM urls WHERE state = ? AND reason = ? ORDER BY number", state, reason
        )


class History:
    """One crawl in several runs, with one client that reports random results."""

    def __init__(self, data: st.DataObject, folder: Folder, open_store: Open) -> None:
        self.data = data
        self.folder = folder
        self.open_store = open_store
        self.settings = Settings(
            retry_wait=1.0, retries=1, delay=0.0, sitemaps=False,
            collection=data.draw(st.sampled_from([None, 3]), "collection"),
        )  # fmt: skip
        self.numbers, self.offsets = itertools.count(1), itertools.count()
        self.bytes = self.visits = self.truncated = 0

    def run(self, purpose: Purpose) -> None:
        """One run of the server: a few steps, and a full count after each."""
        FickleGate.whim = lambda _: self.data.draw(st.integers(0, 3), "whim") == 0  # type: ignore[assignment, misc]
        with contextlib.closing(self.open_store()) as store:
            FickleGate.store = store
            self.store = store
            named = [SEED, *self.data.draw(st.lists(st.sampled_from(URLS), max_size=2), "named")]
            depth = self.data.draw(st.sampled_from([None, 0, 1, 3]), "depth")
            self.settings = Settings(**{**_fields(self.settings), "max_depth": depth})
            self.parts = assemble(store, self.settings, named, self.folder, self.folder.path, 1, purpose)
            self.parts.frontier.leases.join(CLIENT)
            self.check()
            steps = [self.lease_and_report] * 5 + [
                self.rescope,
                self.swap,
                self.swap,
                self.set_aside,
                self.wait,
                self.lose,
            ]
            for step in self.data.draw(st.lists(st.sampled_from(steps), min_size=5, max_size=15), "steps"):
                step()
                self.check()

    # ---- what happens

    def lease_and_report(self) -> None:
        self.parts.frontier.lease(CLIENT, 4)
        held = self.held()
        visits = [self.visit(task) for task in held if self.data.draw(st.integers(0, 4), "reports") > 0]
        self.parts.intake.take_in(
            VisitReport(
                client=CLIENT, number=next(self.numbers), clock=0.0, want=0, visits=visits, hosts=[], warcs={"w": 10}
            )
        )

    def visit(self, task: Task) -> Visit:
        mentioned = self.data.draw(st.lists(st.sampled_from(URLS), max_size=3, unique=True), "links")
        found = [Found(identity(url), url, "") for url in mentioned]
        if task.kind == Kind.SOURCE:
            self.bytes += 7
            return Visit(id=task.id, outcome=Outcome.SOURCE, at=time.time(), size=7, found=found)
        answer = self.data.draw(st.sampled_from(ANSWERS + (AGAIN if task.digest else [])), "answer")
        if self.data.draw(st.booleans(), "a sitemap") and answer["outcome"] is Outcome.PAGE:
            found += [Found(identity(url), url, "", Kind.SOURCE) for url in SITEMAPS]
        if answer["outcome"] is Outcome.REDIRECT:
            found = found[:1] or [Found(identity(URLS[-1]), URLS[-1], "")]
        status = answer.get("status", 0)
        self.bytes += 100
        self.visits += status != 0
        self.truncated += answer.get("truncated", False)
        return Visit(
            id=task.id, at=time.time(), size=100, found=found, stored=Stored("w", next(self.offsets), 10) if status else None,
            fingerprint=b"x", digest=b"d", links=b"".join(each.id.to_bytes(8, "little", signed=True) for each in found),
            **answer,
        )  # fmt: skip

    def rescope(self) -> None:
        exclude = self.data.draw(st.sampled_from([(), ("/x/",), ("/y/",)]), "exclude")
        scope = self.data.draw(st.sampled_from(["host", "any"]), "scope")
        self.settings = Settings(**{**_fields(self.settings), "exclude": exclude, "scope": scope})
        self.parts.frontier.change(self.settings)
        if self.data.draw(st.booleans(), "at once"):
            self.wait()

    def swap(self) -> None:
        collection = self.parts.frontier._collection
        if collection is None:
            return
        leaver = self.draw_url("state = 3 AND kind = 0")
        newcomer = self.draw_url(f"state = 6 AND reason = '{LEFT}'") or self.draw_url("kind = 0 AND state = 1")
        # As the process that refines a collection proposes: only pages with content leave.
        if leaver and leaver.id not in self.stored():
            leaver = None
        returns = newcomer is not None and self.state(newcomer) == State.EXCLUDED
        host = identity("http://" + newcomer.url.split("/")[2]) if newcomer else 0
        proposed = Swap(leaver.id if leaver else 0, newcomer.id if newcomer else 0, host, returns)
        self.parts.frontier._swap(collection, [proposed])

    def set_aside(self) -> None:
        self.parts.frontier.lease(CLIENT, 4)
        if held := self.held():
            task = self.data.draw(st.sampled_from(held), "deadly")
            set_aside(task, self.store, self.parts.ledger)
            self.lose(task.id)

    def lose(self, doomed: int = 0) -> None:
        """The client dies and is replaced."""
        self.parts.frontier.leases.leave(CLIENT, doomed)
        self.parts.frontier.leases.join(CLIENT)

    def wait(self) -> None:
        self.parts.frontier.tick(time.time() + 3600)
        self.parts.frontier.exhausted()

    # ---- what is known

    def held(self) -> list[Task]:
        return [held.task for held in self.parts.frontier.leases._held.values()]

    def draw_url(self, where: str) -> Task | None:
        ids = [row[0] for row in self.store.select(f"SELECT id FROM urls WHERE {where} ORDER BY number")]
        return self.data.draw(st.sampled_from(self.store.tasks(ids)), "url") if ids else None

    def state(self, task: Task) -> int:
        return self.store.known([task.id])[task.id][1]

    def stored(self) -> set[int]:
        """The URLs that have a version."""
        return {row[0] for row in self.store.select(f"SELECT DISTINCT u.id FROM {self.store.joins.versions}")}

    def check(self) -> None:
        counts = self.parts.ledger.counts
        rows = self.store.select("SELECT id, state FROM urls WHERE kind = 0")
        states = Counter(state for _, state in rows)
        counted = {total: states[state] for state, total in TOTALS.items()}
        counted["known"] = len(rows)
        counted["versions"] = self.store.select("SELECT count(*) FROM versions")[0][0]
        counted["pages"] = len(self.stored())
        counted["redirects"] = len({id for id, state in rows if state == State.FETCHED} - self.stored())
        counted |= {"bytes": self.bytes, "visits": self.visits, "truncated": self.truncated}
        assert {total: getattr(counts, total) for total in counted} == counted
        assert self.store.counts() == counts


def _fields(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes, and a gate with random decisions."""
    monkeypatch.setattr(assembly, "Gatekeeper", FickleGate)
    monkeypatch.setattr(PageCollection, "step", lambda *_: [])


def replay(data: st.DataObject, new_store: Callable[[Path], Open]) -> None:
    """Two or three runs of one crawl; `new_store` says how to open a store for a folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        history = History(data, folder, new_store(folder.path))
        history.run(Purpose())
        for again in data.draw(st.lists(st.booleans(), min_size=1, max_size=2), "runs"):
            history.run(Purpose(again=again, retry=True))


@hypothesis.settings(max_examples=60, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data())
def test_totals_are_what_a_full_count_says(quiet: None, data: st.DataObject) -> None:
    replay(data, lambda folder: partial(SqliteStore, folder / "sanderling.db"))


@hypothesis.settings(max_examples=10, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data())
def test_totals_are_the_same_in_a_database(quiet: None, postgres: PostgresServer, data: st.DataObject) -> None:
    replay(data, lambda folder: partial(PostgresStore, located(postgres.dsn, folder) or ""))
