"""What a focused crawl makes of one more page that links to a URL in its queue."""

from collections.abc import Iterator

import pytest

from sanderling.documents.links import pack
from sanderling.model import Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.repository.store import TrailUrl
from sanderling.server.gate.holding import Lessons
from sanderling.server.gate.tunnel import Tunnel
from sanderling.server.ranking.focus import Focus

HOST, LINK, FAR = 7, 100, 101


class EmptyStore:
    """Nothing was known before."""

    def off_topic(self, most: int) -> list[tuple[int, int, int, int, float]]:
        return []

    def trails(self, most: int) -> Iterator[TrailUrl]:
        return iter(())

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        return []

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        return {}

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        return []


def visited(number: int, relevance: float, *links: int, digest: bytes = b"") -> tuple[Visit, Task]:
    return (
        Visit(id=number, outcome=Outcome.PAGE, status=200, relevance=relevance, links=pack([*links])),
        Task(number, f"http://a.test/{number}", 1, 0, 0, digest=digest),
    )


def found(id: int, via: int) -> NewUrl:
    return NewUrl(id, f"http://a.test/{id}", HOST, 2, State.QUEUED, 0.3, via, 0, "", "", Kind.PAGE, relevance=0.2)


def after(*reports: tuple[Visit, Task], ranks: bool = True) -> dict[int, tuple[int, float | None]]:
    """What the last report says of URLs that the first one found."""
    tunnel = Tunnel(EmptyStore(), 0.5, 0, Focus(0.5), ranks)
    tunnel.learn(reports[:1], Lessons())
    for id in (LINK, FAR):
        tunnel.place(found(id, reports[0][1].id))
    lessons = Lessons()
    for report in reports[1:]:
        lessons = Lessons()
        tunnel.learn([report], lessons)
    return lessons.off_topic


def test_every_page_that_links_to_a_url_moves_its_rank_at_once() -> None:
    focus = Focus(0.5)
    good, poor = (
        after(visited(1, 0.9, LINK), visited(2, 0.8, LINK)),
        after(visited(1, 0.9, LINK), visited(2, 0.1, LINK)),
    )
    assert good[LINK] == (0, pytest.approx(focus.rank(0.2, 0.85, 1.7, HOST)))
    assert poor[LINK] == (0, pytest.approx(focus.rank(0.2, 0.5, 1.0, HOST)))
    assert good[LINK][1] > poor[LINK][1]  # type: ignore[operator]


def test_a_page_that_is_visited_again_does_not_count_twice() -> None:
    again = visited(1, 0.9, LINK, digest=b"d")
    assert after(visited(1, 0.9, LINK), visited(2, 0.1, LINK), again) == {}


def test_a_better_page_brings_a_held_url_nearer_with_all_its_pages() -> None:
    nearer = after(visited(1, 0.1, FAR), visited(2, 0.2, FAR), visited(3, 0.9, FAR))
    assert nearer[FAR] == (0, pytest.approx(Focus(0.5).rank(0.2, 0.4, 1.2, HOST)))


def test_a_new_url_gets_its_count() -> None:
    tunnel = Tunnel(EmptyStore(), 0.5, 1, Focus(0.5))
    tunnel.learn([visited(1, 0.1, LINK)], Lessons())
    placed = tunnel.place(found(LINK, 1))
    assert placed == found(LINK, 1)._replace(off_topic=1, rank=placed.rank)
    assert placed.rank > 0.3, "nothing is on the topic so far, so links of a new kind are worth a try"
    tunnel.learn([visited(LINK, 0.1, FAR)], Lessons())
    assert tunnel.place(found(FAR, LINK)).state is State.KNOWN


def test_ranks_of_another_order_are_left_alone() -> None:
    assert after(visited(1, 0.1, FAR), visited(3, 0.9, FAR), ranks=False) == {FAR: (0, None)}
