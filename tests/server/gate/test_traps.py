"""Budgets by the new content that visits find: for patterns, folders and hosts of a domain."""

from random import Random

import msgspec
import pytest

from sanderling.server.gate.traps import (
    FIRST_PROBE,
    GIVE_UP_AFTER,
    GIVE_UP_COPIES,
    LONGEST_RUN,
    MOST_HOSTS,
    MOST_PATTERNS,
    PATIENT_LINKS,
    PROVEN,
    SUSPICIOUS,
    CompactSet,
    DomainBudget,
    HostBudget,
    KeptDomain,
    KeptTraps,
    Ways,
    folder,
    pattern,
)

E = "http://e.org"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("/calendar/2024/05/17", "/calendar/1999/12/1"),
        ("/events/may/2024", "/events/december/2025"),
        ("/show?id=3&view=a", "/show?view=b&id=99"),
        ("/s/8f3a99c1/page", "/s/00bb71d4e0/page"),
        ("/a/b/a/b/a/", "/a/b/a/b/a/b/a/"),
        ("/x?tag=a", "/x?tag=a&tag=b&tag=c"),
    ],
)
def test_what_counts_up_is_one_pattern(one: str, two: str) -> None:
    assert pattern(E + one) == pattern(E + two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("/guide/first.html", "/guide/second.html"),
        ("/java/api/java.base/java/util/List.html", "/java/api/java.base/java/util/Map.html"),
        ("/maybe/x", "/mayor/x"),
        ("/a?x=1", "/a?y=1"),
        ("/deadbeef", "/effaced"),
    ],
)
def test_what_differs_in_words_is_not(one: str, two: str) -> None:
    assert pattern(E + one) != pattern(E + two)


def test_a_folder_is_all_that_lies_beside() -> None:
    assert folder(pattern(E + "/a/b/c.html")) == "/a/b/*"
    assert folder(pattern(E + "/a?x=1")) == "/*"


def test_a_pattern_is_closed_when_it_repeats_itself_and_opened_again() -> None:
    budget = HostBudget(KeptTraps())
    for day in range(LONGEST_RUN + 2):
        assert not budget.closed
        judged = budget.judge(f"{E}/day/{day}", 7, 1)
        assert judged.newness == (day == 0)
    assert budget.closed == {"/day/0"}
    assert budget.objection(f"{E}/day/99") == "/day/0"
    assert not budget.objection(f"{E}/week/1")
    assert budget.judge(f"{E}/day/77", 8, 1 << 40 | 0xFFFF).opened == ("/day/0",)


def test_a_pattern_is_given_up_after_hundreds_of_visits_when_nothing_else_is_left() -> None:
    budget = HostBudget(KeptTraps())
    days = iter(range(10_000))
    while not budget.closed:
        budget.judge(f"{E}/day/{(day := next(days))}", 7, 1, exact=day)
    budget.be_patient(["/day/0", "/day/*"])
    assert not budget.objection(f"{E}/day/99") and budget.find("/day/0").room >= GIVE_UP_COPIES
    while not budget.closed:
        budget.judge(f"{E}/day/{(day := next(days))}", 7, 1, exact=day)
    assert GIVE_UP_AFTER < day < GIVE_UP_AFTER + 10
    budget.be_patient(["/day/0", "/day/*"])
    assert budget.closed


def test_a_pattern_of_exact_copies_is_given_up_sooner() -> None:
    """The empty months of a calendar, back to the year one."""
    budget = HostBudget(KeptTraps())
    budget.be_patient(["/month/0", "/month/*"])
    months = iter(range(10_000))
    while not budget.closed:
        budget.judge(f"{E}/month/{next(months)}", 7, 1)
    assert GIVE_UP_COPIES < next(months) < GIVE_UP_COPIES + 5


def test_patience_has_an_end() -> None:
    """A host with more and more patterns that bring nothing."""
    budget = HostBudget(KeptTraps())
    texts = [f"/{chr(97 + n // 26)}{chr(97 + n % 26)}/0" for n in range(100)]
    budget.be_patient(texts)
    assert sum(budget.find(text).patient for text in texts) == PATIENT_LINKS // GIVE_UP_AFTER


def test_only_copies_are_hopeless() -> None:
    numbers, copies = HostBudget(KeptTraps()), HostBudget(KeptTraps())
    for n in range(GIVE_UP_AFTER + 10):
        numbers.judge(f"{E}/station/{n}", 7, 1, exact=1000 + n)
        copies.judge(f"{E}/station/{n}", 7, 1, exact=1000)
    assert not numbers.find("/station/0").hopeless
    assert copies.find("/station/0").hopeless


def test_what_is_new_is_never_closed_however_many_there_are() -> None:
    budget = HostBudget(KeptTraps())
    for number in range(5000):
        assert budget.judge(f"{E}/article/{number}", number, number * 0x9E3779B97F4A7C15).newness == 1.0
    assert not budget.closed
    assert len(budget.patterns) <= MOST_PATTERNS


def test_one_in_eight_that_is_new_is_enough() -> None:
    budget = HostBudget(KeptTraps())
    for number in range(1000):
        gist = number if number % 7 == 0 else -1
        budget.judge(f"{E}/item/{number}", gist, gist * 0x9E3779B97F4A7C15)
    assert not budget.closed


def test_near_duplicates_count_for_a_quarter() -> None:
    budget = HostBudget(KeptTraps())
    for number in range(4 * LONGEST_RUN + 10):
        budget.judge(f"{E}/photo/{number}", number + 100, 0b1111 ^ number % 2)
    assert budget.closed == {"/photo/0"}


def test_copies_of_pages_elsewhere_are_worth_visiting() -> None:
    """A second language with the same content as the first, page by page."""
    budget = HostBudget(KeptTraps())
    for language in ("en", "da"):
        for number in range(100):
            budget.judge(f"{E}/{language}/page-{number}", number, number * 0x9E3779B97F4A7C15)
    assert not budget.closed


def test_untried_patterns_queue_few_and_proven_ones_any_number() -> None:
    budget = HostBudget(KeptTraps())
    admitted = [n for n in range(100) if not budget.admits(f"{E}/article/{n}")]
    assert len(admitted) == LONGEST_RUN + 1
    assert all(not budget.admits(f"{E}/about/{word}") for word in ("us", "them", "it"))
    for number in admitted:
        budget.judge(f"{E}/article/{number}", number, number * 0x9E3779B97F4A7C15)
    assert budget.find("/article/0").room > 10
    for number in range(900, 900 + PROVEN):
        budget.judge(f"{E}/article/{number}", number, number * 0x9E3779B97F4A7C15)
    assert budget.find("/article/0").room > 10_000


def test_a_closed_pattern_is_kept_between_runs_and_probed_less_and_less() -> None:
    budget = HostBudget(KeptTraps())
    for day in range(LONGEST_RUN + 2):
        budget.judge(f"{E}/day/{day}", 7, 1)
    again = HostBudget(budget.keep({}))
    assert again.closed == {"/day/0"}
    closed = again.find("/day/0")
    assert closed.probe_at == again.new + FIRST_PROBE
    closed.probed(60)
    closed.probed(200)
    assert closed.probe_at == 200 + 4 * FIRST_PROBE


def test_the_same_answer_under_many_names_is_suspicious() -> None:
    budget = HostBudget(KeptTraps())
    for n in range(SUSPICIOUS):
        assert not budget.suspect
        budget.judge(f"{E}/{'abcdefghijkl'[n]}/x", 5, 1)
    budget.judge(f"{E}/m/x", 5, 1)
    assert budget.suspect == 5
    budget.soft.add(5)
    assert budget.judge(f"{E}/n/x", 5, 1).soft


def test_hosts_of_a_domain_are_tried_a_few_at_a_time() -> None:
    domain = DomainBudget(KeptDomain())
    assert [host for host in range(100) if domain.admits(host)] == list(range(MOST_HOSTS))
    for host in range(MOST_HOSTS):
        domain.judge(host, 5, 1)
    more = domain.released()  # the first was new, so more visits are allowed
    assert 0 < len(more) <= 2
    for host in more:
        domain.judge(host, 5, 1)
    assert domain.released() == []
    generous = DomainBudget(KeptDomain())
    waiting = [host for host in range(100) if not generous.admits(host)]
    visited = set(range(100)) - set(waiting)
    while visited:
        host = visited.pop()
        generous.judge(host, host + 1, host * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
        visited.update(generous.released())
    assert generous.yielded == 100


def test_a_pattern_gets_no_new_tries_by_a_kill() -> None:
    budget = HostBudget(KeptTraps())
    for day in range(LONGEST_RUN + 1):
        assert not budget.closed
        assert not budget.admits(f"{E}/day/{day}")
        budget.judge(f"{E}/day/{day}", 7, 1)
        budget = HostBudget(msgspec.msgpack.decode(msgspec.msgpack.encode(budget.keep({})), type=KeptTraps))
    budget.judge(f"{E}/day/99", 7, 1)
    assert budget.closed == {"/day/0"}


def test_urls_that_wait_are_counted_after_a_kill() -> None:
    budget = HostBudget(KeptTraps())
    admitted = 0
    for day in range(100):
        admitted += not budget.admits(f"{E}/day/{day}")
        budget = HostBudget(budget.keep({}))
    assert admitted == LONGEST_RUN + 1


def test_hosts_of_a_domain_get_no_new_tries_by_a_kill() -> None:
    domain = DomainBudget(KeptDomain())
    tried = 0
    for host in range(100):
        if domain.admits(host):
            tried += 1
            domain.judge(host, 5, 1)
        if (kept := domain.keep()) is not None:
            domain = DomainBudget(msgspec.json.decode(msgspec.json.encode(kept), type=KeptDomain))
    assert tried <= MOST_HOSTS + 2


def test_the_way_from_something_new_is_kept() -> None:
    ways = Ways()
    ways.note(7, [1, 2], 3.0)
    again = Ways()
    again.restore(7, ways.to_keep(7))
    assert again.of(7, 1) == 3.0 and again.of(8, 1) == 0.0
    assert again.beyond(7, 1, 0.0) == 4.0
    assert again.of(7, 1) == 0.0 and again.of(7, 2) == 3.0


def test_seen_numbers_in_little_room() -> None:
    seen = CompactSet()
    chance = Random(1)
    numbers = [chance.getrandbits(64) - (1 << 63) for _ in range(40_000)]
    wrong = sum(seen.add(number) for number in numbers)
    assert wrong < 40
    assert all(seen.add(number) for number in numbers)
