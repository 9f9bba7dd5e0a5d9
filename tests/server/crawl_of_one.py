"""The parts of a crawl server without any process: the test is the client."""

from pathlib import Path
from typing import Any

from sanderling.model import Found, Outcome, Stored, Task, Visit, VisitReport
from sanderling.repository.folder import Folder
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.assembly import Parts, Purpose, assemble
from sanderling.settings import Settings
from sanderling.urls import identity

CLIENT = "0123456789ab"


class CrawlOfOne:
    """A crawl with one client that answers as it is told."""

    def __init__(self, path: Path, seeds: list[str], purpose: Purpose | None = None, **settings: Any) -> None:
        self.store = SqliteStore(path / "sanderling.db")
        self.settings = Settings(**{"sitemaps": False, "delay": 0.0, **settings})
        self.parts: Parts = assemble(self.store, self.settings, seeds, Folder(path), path, 1, purpose or Purpose())
        self.parts.frontier.leases.join(CLIENT)
        self._number = 0

    def lease(self, want: int = 100) -> list[Task]:
        return [task for host in self.parts.frontier.lease(CLIENT, want) for task in host.tasks]

    def report(self, *visits: Visit, returned: list[int] | None = None) -> list[tuple[str, Visit]]:
        self._number += 1
        return self.parts.intake.take_in(
            VisitReport(
                client=CLIENT, number=self._number, clock=0.0, want=0, visits=list(visits), hosts=[],
                warcs={"w": 1000}, returned=returned or [],
            )
        )  # fmt: skip

    def states(self) -> dict[str, int]:
        return dict(self.store.select("SELECT url, state FROM urls"))


def page(task: Task, *links: str, **facts: Any) -> Visit:
    """A page that links to others."""
    found = [Found(identity(url), url, "") for url in links]
    packed = b"".join(each.id.to_bytes(8, "little", signed=True) for each in found)
    stored = Stored("w", task.id & 0xFFFF_FFFF, 10)
    return Visit(
        **{
            "id": task.id, "outcome": Outcome.PAGE, "status": 200, "at": 1.0, "size": 100, "digest": b"d",
            "fingerprint": b"x", "found": found, "links": packed, "stored": stored, **facts,
        }
    )  # fmt: skip


def redirect(task: Task, target: str, **facts: Any) -> Visit:
    return page(task, target, **{"outcome": Outcome.REDIRECT, "status": 301, **facts})
