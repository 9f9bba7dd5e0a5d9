"""An example of a package that plugs something into every door of Sanderling (`docs/doors.md`)."""

from pathlib import Path

import numpy as np

from sanderling import ReadPage
from sanderling.client.fetcher import Fetcher, MayConnect, Request, Response
from sanderling.client.loop import Loop
from sanderling.documents.office.draft import Draft
from sanderling.freshness.choosing import ScoredPolicy, VisitBudget, evenly
from sanderling.server.ranking.order import Scoring, Snapshot
from sanderling.settings import Settings
from sanderling.telling.notification import Notification


def bill(page: ReadPage) -> dict[str, object]:
    """An extractor."""
    return {"length": len(page.text)}


def no_calendar(url: str) -> str | None:
    """A URL filter: why a URL is not followed."""
    return "it is a calendar" if "/calendar/" in url else None


def alphabet(host: str, clients: list[str]) -> str:
    """An assignment: which client a host belongs to."""
    return clients[ord(host.partition("://")[2][0]) % len(clients)]


class Marked:
    """A fetcher around that of the product: requests carry one more header."""

    def __init__(self, inner: Fetcher, settings: Settings, loop: Loop) -> None:
        self._inner = inner
        self.expect, self.finished, self.close = inner.expect, inner.finished, inner.close

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        return self._inner.start(request._replace(headers=(*request.headers, ("X-Curlew", "yes"))), may_connect)


def _least_linked(known: Snapshot) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return -known.graph.in_degree.astype(np.float64)


# An order of visits.
LEAST_LINKED = Scoring(_least_linked)


def _size(asked: VisitBudget) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.asarray(asked.pages["size"])


# A revisit policy: the largest pages first.
LARGEST_FIRST = ScoredPolicy(_size, evenly)


def into_a_file(address: str, sent: Notification) -> None:
    """A notification target, for addresses such as curlew:///path/of/a/file."""
    with Path(address.partition("://")[2]).open("a") as file:
        file.write(f"{sent.subject}\n{sent.body}\n")


def read_notes(body: bytes, draft: Draft) -> None:
    """A document format. It runs in a child process with limits."""
    for line in body.removeprefix(b"\0CURLEW").decode().splitlines():
        if line.startswith("http"):
            draft.link(line)
        draft.add(line)
        draft.end_line()
