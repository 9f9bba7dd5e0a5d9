"""What others say of URLs enters a crawl in one way, whoever says it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.model import (
    DUE_AT_ONCE,
    Commit,
    Found,
    Hint,
    Kind,
    NewUrl,
    Outcome,
    Settled,
    State,
    Visit,
)
from sanderling.repository.folder import Folder
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.assembly import Parts, Purpose, assemble
from sanderling.server.frontier.hints import DATED, SURE, apply_hints, hints_in
from sanderling.settings import Settings
from sanderling.urls import identity

HOME = "http://e.org"


def hint(name: str, sure: float, at: float = 0.0, what: str = "changed") -> Hint:
    url = f"{HOME}/{name}"
    return Hint(identity(url), url, what, at, "sitemap", sure)  # type: ignore[arg-type]


def row(said: Hint) -> list[NewUrl]:
    return [NewUrl(said.id, said.url, 7, 1, State.QUEUED, 0.0, 0, 0, "", "", modified=said.at)]


def test_what_is_sure_is_visited_at_once_and_what_is_not_is_evidence() -> None:
    new, dated, undated, sure = (
        hint("new", DATED, 5.0),
        hint("a", DATED, 6.0),
        hint("b", DATED),
        hint("c", SURE),
    )
    heeded = apply_hints([new, dated, undated, sure], {new.id}, row)
    assert [(each.url, each.modified) for each in heeded.urls] == [(new.url, 5.0)]
    assert heeded.dated == [(dated.id, 6.0)]
    assert heeded.due == [sure.id]


def test_a_page_that_nobody_knew_and_is_gone_is_no_news() -> None:
    gone = hint("gone", SURE, what="gone")
    assert apply_hints([gone], {gone.id}, row).urls == []
    assert apply_hints([gone], set(), row).due == [gone.id]


def test_sitemaps_and_feeds_are_read_for_dates() -> None:
    urls = [f"{HOME}/{name}" for name in "abc"]
    sitemap = Visit(id=1, outcome=Outcome.SOURCE)
    feed = Visit(id=2, outcome=Outcome.PAGE)
    seen = {
        identity(urls[0]): (Found(identity(urls[0]), urls[0], "", Kind.PAGE, 5.0), sitemap),
        identity(urls[1]): (Found(identity(urls[1]), urls[1], "", Kind.PAGE, 6.0), feed),
        identity(urls[2]): (Found(identity(urls[2]), urls[2], "a link"), feed),
    }
    assert hints_in(seen, {identity(urls[1])}) == [
        Hint(identity(urls[0]), urls[0], "changed", 5.0, "sitemap", DATED),
        Hint(identity(urls[1]), urls[1], "new", 6.0, "feed", DATED),
    ]


# ---- a person


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "sanderling.db")
    yield opened
    opened.close()


def crawl(store: SqliteStore, tmp_path: Path, **settings: object) -> Parts:
    """A crawl of one host, with one client that has nothing yet."""
    given = Settings(delay=0, **settings)  # type: ignore[arg-type]
    parts = assemble(store, given, [f"{HOME}/"], Folder(tmp_path), tmp_path, 1, Purpose())
    parts.frontier.leases.join("c")
    return parts


def page(name: str) -> int:
    return identity(f"{HOME}/{name}")


def said(parts: Parts, *urls: str) -> list[tuple[bool, str]]:
    return [(reply.accepted, reply.said) for reply in parts.visit_requests.follow(urls)]


def leased(parts: Parts, want: int = 100) -> list[str]:
    return [task.url for host in parts.frontier.lease("c", want) for task in host.tasks]


def fill(store: SqliteStore, parts: Parts, **states: State) -> None:
    """Adds pages in some states, those that were visited with a version."""
    rows = [NewUrl(page(name), f"{HOME}/{name}", identity(HOME), 1, State.QUEUED, 0.0, 0, 0, "", "") for name in states]
    parts.ledger.admitted(rows)
    visits = [Visit(id=page(name), outcome=Outcome.PAGE, status=200, at=9.0) for name, s in states.items() if s == 3]
    settled = [Settled(page(name), state, 0, 0.0, "") for name, state in states.items()]
    parts.ledger.moved((State.QUEUED, state) for state in states.values())
    store.commit(Commit("c", 1, rows, settled, visits, [], {}, parts.ledger.counts))


def test_pages_that_are_asked_for_are_leased_first(store: SqliteStore, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    fill(store, parts, old=State.FETCHED, failed=State.FAILED, held=State.KNOWN, queued=State.QUEUED)
    urls = [f"{HOME}/{name}" for name in ("old", "failed", "held", "fresh")]
    assert [accepted for accepted, _ in said(parts, *urls)] == [True] * 4
    counts = parts.ledger.counts
    assert (counts.known, counts.queued, counts.fetched, counts.failed, counts.held) == (6, 5, 1, 0, 0)
    assert set(leased(parts, 4)) == set(urls)
    assert said(parts, urls[0]) == [(True, "being visited now")]
    assert store.counts() == counts


def test_ranking_leaves_what_was_asked_for_in_front(store: SqliteStore, tmp_path: Path) -> None:
    from sanderling.server.ranking import snapshot
    from sanderling.server.ranking.reranker import read

    parts = crawl(store, tmp_path)
    said(parts, f"{HOME}/fresh")
    snapshot.rerank(store, "pagerank", tmp_path / "ranks")
    ranked = [id for step in read(tmp_path / "ranks")[1] for id, _ in step.ranks]
    assert page("fresh") not in ranked and identity(f"{HOME}/") in ranked


@pytest.mark.parametrize(
    ("url", "settings", "why"),
    [
        ("nonsense", {}, "not a URL that begins with http:// or https:// and a host"),
        ("mailto:me@e.org", {}, "not a URL that begins with http:// or https:// and a host"),
        ("http://other.org/", {}, "scope: another host"),
        (f"{HOME}/no", {"exclude": ("/no",)}, "matches an exclude pattern"),
        ("http://127.0.0.1/", {"scope": "any"}, "127.0.0.1 is a private address, and no seed: see allow_private"),
    ],
)
def test_what_is_refused_is_said_and_leaves_no_trace(
    store: SqliteStore, tmp_path: Path, url: str, settings: dict[str, object], why: str
) -> None:
    parts = crawl(store, tmp_path, **settings)
    before = store.counts()
    assert said(parts, url) == [(False, why)]
    assert store.counts() == before and leased(parts) == [f"{HOME}/"]


def test_a_known_page_that_is_asked_for_survives_a_kill(store: SqliteStore, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    fill(store, parts, old=State.FETCHED, other=State.FETCHED)
    said(parts, f"{HOME}/old")
    store.forget_due()  # as a refresh begins
    assert store.due(0.0, DUE_AT_ONCE) == [(identity(HOME), 1)]
    again = crawl(store, tmp_path)
    assert leased(again, 1) == [f"{HOME}/old"]
    assert not again.frontier.exhausted()


def test_an_asked_page_counts_for_no_limit_of_pages_but_a_new_one_does(store: SqliteStore, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path, max_pages=0)
    fill(store, parts, old=State.FETCHED)
    said(parts, f"{HOME}/old", f"{HOME}/fresh")
    assert leased(parts) == [f"{HOME}/old"]


def test_a_visit_that_has_to_be_tried_again_waits_for_it(store: SqliteStore, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    fill(store, parts, old=State.FETCHED)
    said(parts, f"{HOME}/old")
    assert f"{HOME}/old" in leased(parts)
    kept = parts.frontier._end_leases([Settled(page("old"), State.FETCHED, 1, 4e9, "")])
    assert [each.due for each in kept] == [DUE_AT_ONCE]  # a kill while it waits loses nothing
    parts.frontier.tick(3e9)
    assert leased(parts) == []
    parts.frontier.tick(5e9)
    assert leased(parts) == [f"{HOME}/old"]
    assert parts.frontier._end_leases([done := Settled(page("old"), State.FETCHED, 0, 0.0, "")]) == [done]
    assert parts.frontier._asked.take(identity(HOME), 5, 5, ()) == []


def test_a_host_that_is_given_up_holds_no_run_up(store: SqliteStore, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path, max_pages=0)
    fill(store, parts, old=State.FETCHED)
    said(parts, f"{HOME}/old")
    assert not parts.frontier.exhausted()
    parts.frontier.leases.suspend(identity(HOME), None)
    assert parts.frontier.exhausted()
