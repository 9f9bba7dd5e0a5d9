"""The totals as a function of what happens to pages; `test_totals` compares them with the rows."""

import pytest

from sanderling.model import Before, Change, ChangeKind, Counts, Kind, NewUrl, Outcome, Settled, State, Stored, Visit
from sanderling.server.frontier.ledger import Ledger

STORED = Stored("w", 0, 10)


def row(id: int, state: State, kind: Kind = Kind.PAGE) -> NewUrl:
    return NewUrl(id, f"http://e.org/{id}", 7, 1, state, 0.0, 0, 0, "", "", kind)


def before(state: State, ever: bool) -> Before:
    return Before(b"", b"", state, 200, None, ever)


def visit(outcome: Outcome, status: int = 200, **facts: object) -> Visit:
    return Visit(id=1, outcome=outcome, status=status, size=100, stored=STORED if status else None, **facts)  # type: ignore[arg-type]


def settled(state: State, due: float = 0.0) -> Settled:
    return Settled(1, state, 0, due, "")


def counted(ledger: Ledger) -> dict[str, int]:
    """The totals that are not 0."""
    return {name: n for name in ledger.counts.__struct_fields__ if (n := getattr(ledger.counts, name))}


def test_new_urls_count_in_the_state_they_begin_in() -> None:
    ledger = Ledger(Counts())
    ledger.admitted([row(1, State.QUEUED), row(2, State.QUEUED), row(3, State.KNOWN), row(4, State.EXCLUDED)])
    ledger.admitted([row(5, State.QUEUED, Kind.SOURCE)])
    assert counted(ledger) == {"known": 4, "queued": 2, "held": 1, "excluded": 1}


def test_a_first_visit_moves_a_page_out_of_the_queue() -> None:
    ledger = Ledger(Counts(known=1, queued=1))
    ledger.visited([visit(Outcome.PAGE)], [settled(State.FETCHED)], {}, {}, 0)
    assert counted(ledger) == {"known": 1, "fetched": 1, "pages": 1, "versions": 1, "visits": 1, "bytes": 100}


def test_a_page_that_is_tried_again_stays_where_it_is() -> None:
    ledger = Ledger(Counts(known=1, queued=1))
    ledger.visited([visit(Outcome.RETRY, 0)], [settled(State.QUEUED, due=9.0)], {}, {}, 3)
    assert counted(ledger) == {"known": 1, "queued": 1, "leased": 3, "retried": 1, "bytes": 100}


@pytest.mark.parametrize(
    ("outcome", "state", "found"),
    [
        (Outcome.PAGE, State.FETCHED, {"fetched": 1, "pages": 1, "versions": 1}),
        (Outcome.GONE, State.GONE, {"gone": 1}),
        (Outcome.REDIRECT, State.FETCHED, {"fetched": 1, "redirects": 1}),
    ],
)
def test_a_redirect_counts_as_one_until_it_is_none(outcome: Outcome, state: State, found: dict[str, int]) -> None:
    ledger = Ledger(Counts(known=1, fetched=1, redirects=1))
    ledger.visited([visit(outcome)], [settled(state)], {1: before(State.FETCHED, ever=False)}, {}, 0)
    assert counted(ledger) == {"known": 1, "visits": 1, "bytes": 100, **found}


def test_a_page_that_was_stored_before_is_not_another_page() -> None:
    ledger = Ledger(Counts(known=1, queued=1, pages=1, versions=1))
    ledger.visited([visit(Outcome.PAGE)], [settled(State.FETCHED)], {1: before(State.QUEUED, ever=True)}, {}, 0)
    assert (ledger.counts.pages, ledger.counts.versions, ledger.counts.fetched) == (1, 2, 1)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (Change(ChangeKind.TEXT, 1.0, "", ""), "changed"),
        (Change(ChangeKind.TEXT, 1.0, "", "", news=False), "quiet"),
        (Change(ChangeKind.NEW, 1.0, "", ""), "back"),
        (Change(ChangeKind.GONE, 1.0, "", ""), "vanished"),
    ],
)
def test_later_visits_count_by_what_they_found(change: Change, found: str) -> None:
    ledger = Ledger(Counts(fetched=1))
    known = {1: before(State.FETCHED, ever=True)}
    ledger.visited([visit(Outcome.PAGE)], [settled(State.FETCHED)], known, {1: change}, 0)
    assert {name: getattr(ledger.counts, name) for name in ("changed", "quiet", "back", "vanished")} == {
        **dict.fromkeys(("changed", "quiet", "back", "vanished"), 0),
        found: 1,
    }


@pytest.mark.parametrize("state", [State.QUEUED, State.FETCHED, State.GONE])
def test_a_page_that_is_set_aside_is_taken_from_where_it_was(state: State) -> None:
    ledger = Ledger(Counts())
    ledger.admitted([row(1, state)])
    ledger.set_aside(state, before(state, ever=True))
    assert counted(ledger) == {"known": 1, "failed": 1}


def test_a_redirect_that_is_set_aside_is_none_any_more() -> None:
    ledger = Ledger(Counts(fetched=1, redirects=1))
    ledger.set_aside(State.FETCHED, before(State.FETCHED, ever=False))
    assert counted(ledger) == {"failed": 1}
