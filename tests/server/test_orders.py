"""Orders of visits are in a registry, and may use the relevance that clients report for pages and
links."""

import struct
from pathlib import Path

import numpy as np
import pytest

from sanderling import plugins
from sanderling.arrays import Floats
from sanderling.model import Commit, Counts, Found, Host, Outcome, Settled, State, Visit
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.frontier.distributor import Distributor
from sanderling.server.frontier.scope import Scope, admit
from sanderling.server.ranking import snapshot
from sanderling.server.ranking.order import Scoring, Snapshot, breadth_first
from sanderling.server.ranking.orders import scoring
from sanderling.server.ranking.reranker import read
from sanderling.settings import BY_TOPIC, CHOICES, ORDERS, Settings
from sanderling.urls import identity

HOME = "http://e.org"
FRONT, NEAR, FAR, SAID = (f"{HOME}/{name}" for name in ("", "near", "far", "said"))


def test_every_order_that_can_be_chosen_has_a_scoring_function_and_help() -> None:
    assert all(scoring(order).score for order in ORDERS) and CHOICES["order"] == tuple(ORDERS)
    assert all(order.help for order in ORDERS.values())


def relevance_first(known: Snapshot) -> Floats:
    """A link has its own relevance, and half of the relevance of the pages that link to it."""
    linking = np.zeros(len(known.relevance))
    for page in np.flatnonzero(known.fetched):
        linking[known.graph.links_of(int(page))] += known.relevance[page] / 2
    return known.relevance + linking


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """The front page is relevant and links to three pages. One of the links is relevant."""
    scope, host = Scope([FRONT], Settings()), Host(identity(HOME), HOME)
    opened = SqliteStore(tmp_path / "sanderling.db")
    found = [Found(identity(NEAR), NEAR, ""), Found(identity(SAID), SAID, "", relevance=0.8)]
    seeds = admit([Found(identity(FRONT), FRONT, "")], 0, 0, 0, scope, None, breadth_first)
    opened.seed([FRONT], seeds, [host], Counts())
    visit = Visit(
        id=identity(FRONT), outcome=Outcome.PAGE, status=200, at=1.0, relevance=0.5,
        links=struct.pack("<2q", identity(NEAR), identity(SAID)),
    )  # fmt: skip
    urls = admit(found, visit.id, 1, 0, scope, None, breadth_first)
    urls += admit([Found(identity(FAR), FAR, "")], visit.id, 0, 0, scope, None, breadth_first)
    settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "")]
    opened.commit(Commit("c", 1, urls, settled, [visit], [], {}, Counts()))
    return opened


def leased(store: SqliteStore, order: str, result: Path) -> list[str]:
    """What would be leased after the job of an order has run."""
    snapshot.rerank(store, order, result)
    for step in read(result)[1]:
        store.rerank(step.ranks)
    return [task.url for task in Distributor(store.take, store.ranks).take(identity(HOME), 3, set())]


def test_a_new_order_ranks_by_what_clients_say(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "installed", lambda *_: Scoring(relevance_first, ("relevance",)))
    assert leased(store, "breadth-first", tmp_path / "ranks")[0] == FAR
    assert leased(store, "relevance", tmp_path / "ranks") == [SAID, NEAR, FAR]
    store.close()


def test_relevance_is_read_only_for_orders_that_ask_for_it(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert snapshot.read(store, ("relevance",))[0].relevance.max() == 0.8
    monkeypatch.setattr(SqliteStore, "relevances", None)
    for order in ORDERS.keys() - {*BY_TOPIC}:
        assert not snapshot.read(store, scoring(order).reads)[0].relevance.any()
    store.close()
