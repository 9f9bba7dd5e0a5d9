"""What the gate lets pass, with a simple table as store."""

import msgspec
import pytest

from sanderling.model import Found, Host, NewUrl, Outcome, PageFacts, State, Task, Visit
from sanderling.server.gate.gatekeeper import FEWEST_AT_ONCE, Gatekeeper
from sanderling.server.gate.holding import FAR
from sanderling.server.gate.host_memory import learned
from sanderling.server.gate.traps import LONGEST_RUN
from sanderling.urls import identity

E = "http://e.org"
HOST = identity(E)


class Table:
    """The part of a store that the gatekeeper reads."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, int, str]] = {}
        self.claimed: list[tuple[int, int]] = []

    def noted(self, key: str) -> str | None:
        return None

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        return {}

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        return self.claimed

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        found = [(id, row[1]) for id, row in self.rows.items() if row[0] == host and row[2] == reason]
        return found[:most]

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        return [(id, *row) for id, row in self.rows.items()]

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        return [(id, row[1]) for id, row in self.rows.items() if row[2] == reason]


def gate(table: Table, host: Host | None = None) -> Gatekeeper:
    known = host or Host(HOST, E)
    return Gatekeeper(table, lambda _: known, lambda *_: "", lambda _: True, False)


def row(path: str, via: int = 0) -> NewUrl:
    return NewUrl(identity(E + path), E + path, HOST, 2, State.QUEUED, 0.0, via, 0, "", "")


def visited(path: str, gist: int, links: bytes = b"", outcome: Outcome = Outcome.PAGE) -> tuple[Visit, Task]:
    id = identity(E + path)
    digest = gist.to_bytes(16, "big")
    simhash = gist * 0x9E3779B97F4A7C15 & (1 << 63) - 1
    return Visit(
        id=id, outcome=outcome, status=200, gist=gist, simhash=simhash, text_digest=digest, digest=digest, links=links
    ), Task(id, E + path, 2, 0, 0)  # fmt: skip


def new(urls: dict[int, str]) -> list[int]:
    return list(urls)


def test_an_ordinary_url_passes() -> None:
    keeper = gate(Table())
    assert keeper.place(row("/a"), new) == [row("/a")]
    assert not keeper.strict(HOST)


def test_a_closed_pattern_is_stopped_at_both_gates_and_kept() -> None:
    keeper = gate(Table(), host := Host(HOST, E))
    lessons = keeper.learn([visited(f"/day/{n}", 7) for n in range(LONGEST_RUN + 2)])
    assert keeper.kept(lessons) == ([host], {})
    assert [each.text for each in learned(host).traps.patterns if each.closed] == ["/day/0"]
    (held,) = keeper.place(row("/day/99"), new)
    assert held.state is State.KNOWN
    assert held.reason == "held-pattern:/day/0"
    assert keeper.strict(HOST)
    stopped = keeper.recheck(Task(1, f"{E}/day/77", 2, 0, 0), HOST, new)
    assert stopped is not None
    assert stopped[0].state is State.KNOWN
    again = gate(Table(), host)
    again.learn([visited("/else", 1)])
    assert again.place(row("/day/98"), new)[0].state is State.KNOWN


def test_a_merged_url_becomes_another_name_and_stands_alone_again_when_that_does_not_exist() -> None:
    table = Table()
    keeper = gate(table)
    lessons = keeper.learn([visited(f"/{page}?ref={value}", ord(page)) for page in "abc" for value in "xy"])
    assert len(lessons.aliases) == 3
    alias, target = keeper.place(row("/d?ref=z"), new)
    assert (alias.state, alias.alias, target.url) == (State.EXCLUDED, target.id, f"{E}/d")
    assert keeper.place(row("/a?ref=q"), new)[0].alias == identity(f"{E}/a?ref=x")  # the visited page represents it
    table.rows[alias.id] = (HOST, 2, alias.reason)
    lessons = keeper.learn([visited("/d", 0, outcome=Outcome.GONE)])
    assert [each.id for each in lessons.released] == [alias.id]
    assert keeper.place(row("/e?ref=z"), new) == [row("/e?ref=z")]


def test_far_from_anything_new_and_found_again_by_a_new_page() -> None:
    table = Table()
    keeper = gate(table)
    keeper.learn([visited("/start", 5)])
    path = "/start"
    for step in range(20):
        here = visited(f"/copy-{'abcdefghijklmnopqrstuvwxyz'[step]}", 5)
        keeper.learn([here])
        path = f"/copy-{'abcdefghijklmnopqrstuvwxyz'[step + 1]}"
        (placed,) = keeper.place(row(path, here[0].id), new)
        if placed.state is State.KNOWN:
            break
    assert placed.reason == FAR
    lessons = keeper.learn([visited("/fresh", 6, links=placed.id.to_bytes(8, "little", signed=True))])
    assert [each.id for each in lessons.released] == [placed.id]


def test_what_a_host_says_of_what_it_has_not() -> None:
    keeper = gate(Table())
    source = Task(3, f"{E}/sitemap.xml", 0, 0, 0, 1)
    keeper.learn([(Visit(id=3, outcome=Outcome.GONE, core=9), source)])
    visit, task = visited("/lost", 9)
    lessons = keeper.learn([(visit, task)])
    assert lessons.reasons[visit.id] == "soft-404"


def test_a_sitemap_that_was_named_exists_whatever_it_says() -> None:
    keeper = gate(Table())
    keeper.learn([(Visit(id=3, outcome=Outcome.GONE, core=9), Task(3, f"{E}/all-pages.html", 0, 0, 0, 1))])
    visit, task = visited("/all-pages", 9)
    assert not keeper.learn([(visit, task)]).reasons


@pytest.mark.parametrize("first", ["/", "/sitemap.xml"])
def test_what_the_front_page_says_is_no_error(first: str) -> None:
    """Applications that answer every address with their front page."""
    keeper = gate(Table())
    both = [visited("/", 9), (Visit(id=3, outcome=Outcome.GONE, core=9), Task(3, f"{E}/sitemap.xml", 0, 0, 0, 1))]
    for each in both if first == "/" else reversed(both):
        keeper.learn([each])
    visit, task = visited("/about", 9)
    assert not keeper.learn([(visit, task)]).reasons
    again = msgspec.structs.replace(visit, core=9)
    assert keeper.without_soft_404(again, task._replace(digest=b"other")) is again


def test_suspicion_leads_to_one_probe() -> None:
    keeper = gate(Table())
    probes: list[Found] = []
    for letter in "abcdefghijklmnop":
        probes += keeper.learn([visited(f"/{letter}/{letter}", 4)]).sources
    assert len(probes) == 1
    assert probes[0].url.endswith("does-not-exist")


def test_what_a_host_said_is_not_new_in_the_next_run() -> None:
    """This holds whether anything was learned from it or not."""
    host = Host(HOST, E)
    first = gate(Table(), host)
    first.learn([visited(f"/list/{n}", n + 1) for n in range(60)])
    (kept,) = first.last_words()
    assert kept is host
    assert first.last_words() == []
    assert len(host.learned) < 3000
    second = gate(Table(), Host(HOST, E, learned=host.learned))
    second.learn([visited(f"/list/{n + 900}", n + 1) for n in range(40)])
    third = gate(Table(), Host(HOST, E))
    third.learn([visited(f"/list/{n + 900}", n + 1) for n in range(40)])
    assert second.strict(HOST)  # the pattern repeats itself
    assert not third.strict(HOST)


def test_few_urls_are_under_way_while_there_is_something_to_learn() -> None:
    keeper = gate(Table())
    assert keeper.most_at_once(HOST) > 1000
    keeper.learn([visited("/a?s=1", 1)])
    assert keeper.most_at_once(HOST) == FEWEST_AT_ONCE
    keeper.learn([visited(f"/{chr(97 + n // 26)}{chr(97 + n % 26)}", n + 10) for n in range(200)])
    assert FEWEST_AT_ONCE < keeper.most_at_once(HOST) <= 60
    keeper.learn([visited("/a?s=2", 500)])  # it counts
    assert keeper.most_at_once(HOST) > 1000
