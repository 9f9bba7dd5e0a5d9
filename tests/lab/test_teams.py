import json
import socket
import time
from collections import deque
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lab import experiment_parser, real_teams, webs
from lab.delayed import DelayedSocket
from lab.messaging import Costs, Dependent, Independent, Served, Timed, crawl
from lab.team_servers import DependentTeam, TeamCrawler
from lab.teams import TEAMS, TeamResult, compare, later_days, split
from sanderling.graph import Graph
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.settings import Settings


@pytest.fixture(scope="module")
def web() -> webs.Web:
    return webs.synthetic(pages=3000, hosts=20)


@pytest.fixture(scope="module")
def slow(web: webs.Web) -> dict[str, TeamResult]:
    return {team.team: team for team in compare(web, 20, 20, message=0.2)}


def test_messages_decide_who_fetches_most(slow: dict[str, TeamResult]) -> None:
    distinct = {team: result.distinct for team, result in slow.items()}
    assert distinct["ours"] > 2 * distinct["seed-server"]
    assert distinct["seed-server"] > distinct["dependent"] > 0
    assert slow["independent"].downloads > slow["seed-server"].downloads
    assert slow["dependent"].messages > slow["seed-server"].messages > slow["ours"].messages
    assert slow["independent"].messages == 0


def test_nobody_asks_again_and_again_while_there_is_nothing_to_fetch(web: webs.Web) -> None:
    """The queue is short for most of this crawl: many crawlers, and messages that take no time."""
    crawling = crawl("ours", web, Costs(message=0.01), 50)
    crawling.run(60)
    assert len(crawling.visits) == len(web.graph.ids)
    assert crawling.messages < 3 * len(crawling.visits)


def test_who_downloads_a_page_more_than_once(slow: dict[str, TeamResult]) -> None:
    assert slow["independent"].most == 20
    assert slow["independent"].popular > 15
    assert 1 < slow["dependent"].most < 10
    assert slow["seed-server"].most == slow["ours"].most == 1


def test_where_messages_cost_nearly_nothing_a_server_costs_nothing(web: webs.Web) -> None:
    free = Costs(message=0.002, handling=0.00001, visit=0.0)
    fetched = {}
    for team in ("seed-server", "ours"):
        crawling = crawl(team, web, free, 20)
        crawling.run(10)
        fetched[team] = len(crawling.visits)
    assert fetched["seed-server"] == pytest.approx(fetched["ours"], rel=0.05)
    assert fetched["ours"] == pytest.approx(20 * 10 / free.download, rel=0.1)


@pytest.mark.parametrize("batch", [1, 100])
def test_served_machines_fetch_every_page_once_and_only_after_a_link_to_it(web: webs.Web, batch: int) -> None:
    crawling = Served(web, Costs(), [5, 3], batch)
    crawling.run(400)
    assert sorted(crawling.visits) == list(range(len(web.graph.ids)))
    known = set(web.seeds)
    for page in crawling.visits:
        assert page in known
        known.update(web.graph.links_of(page).tolist())


def test_a_machine_fetches_only_its_own_part(web: webs.Web) -> None:
    owner = (web.host % 2).tolist()
    crawling = Served(web, Costs(), [4, 0], 100, owner)
    crawling.run(30)
    assert crawling.visits
    assert {owner[page] for page in crawling.visits} == {0}


def pair() -> webs.Web:
    """Two start pages that link to the same third page."""
    graph = Graph(np.arange(3), np.array([0, 1, 2, 2]), np.array([2, 2], np.int32))
    zeros = np.zeros(3, np.int64)
    return webs.Web("pair", graph, [0, 1], zeros, zeros, zeros, [])


def fetched(crawling: Timed) -> list[int]:
    crawling.run(100)
    return sorted(crawling.visits)


def test_crawlers_that_ask_each_other_repeat_only_what_they_ask_at_the_same_time() -> None:
    assert fetched(Independent(pair(), Costs(), 2)) == [0, 1, 2, 2]
    quick = Costs(message=0.0001, handling=0.0)
    assert fetched(Dependent(pair(), quick, 2)) == [0, 1, 2]
    # The answers come long after both have asked.
    assert fetched(Dependent(pair(), Costs(message=10.0), 2)) == [0, 1, 2, 2]


def test_two_machines_that_wait_for_each_url_are_three_times_slower(web: webs.Web) -> None:
    """A question takes twice as long as a page: 0.2 s there, 0.2 s back."""
    assert split(web, 10, 0.2).factor == pytest.approx(3, rel=0.15)
    assert split(web, 10, 0.01).factor < 1.3


def test_reported_pages_are_downloaded_once_on_later_days(web: webs.Web) -> None:
    for day in later_days(web, 20, 60, 0.05):
        assert day.downloads == day.updated > 0 and day.most == 1
        assert day.seconds < 20


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    parser = experiment_parser("teams")
    small = ["--pages", "500", "--crawlers", "3", "--seconds", "5", "--message", "50"]
    options = parser.parse_args([*small, "--json"])
    assert options.run(options) == 0
    report = json.loads(capsys.readouterr().out)
    assert [team["team"] for team in report["teams"]] == list(TEAMS)
    assert [each["message"] for each in report["split"]] == [0.05]
    options = parser.parse_args(small)
    assert options.run(options) == 0
    assert "3 crawlers on" in capsys.readouterr().out


def test_real_clients_through_slow_sockets() -> None:
    """A server that leases pages has none of them downloaded twice."""
    found = {each.team: each for each in real_teams.compare(crawlers=3, seconds=2.0, message=0.02, pages=60)}
    assert list(found) == list(real_teams.TEAMS)
    assert found["ours"].most == found["seed-server"].most == 1
    assert all(0 < each.distinct <= each.downloads for each in found.values())


def test_dependent_crawlers_that_ask_at_the_same_time_both_visit(tmp_path: Path) -> None:
    page = "http://e.org/"
    with closing(SocketSwitchboard(tmp_path / "s")) as switchboard:
        team = DependentTeam(switchboard, Settings(connections=1), [], crawlers=3, message=0.1)
        one, two, three = (TeamCrawler(deque([page]), set(), 1) for _ in range(3))
        assert [*team._next(one)] == [*team._next(two)] == []  # they have asked
        time.sleep(0.25)
        assert [*team._next(one)] == [*team._next(two)] == [page]
        assert [*team._next(three)] == []
        time.sleep(0.25)
        assert [*team._next(three)] == []  # the others had begun with it when they were asked


def test_a_delayed_socket_passes_everything_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "there"))
        listener.listen()
        with closing(DelayedSocket(tmp_path / "here", tmp_path / "there", 0.01)), socket.socket(socket.AF_UNIX) as line:
            line.connect(str(tmp_path / "here"))
            end, _ = listener.accept()
            with end:
                line.sendall(b"x" * 200_000)
                line.shutdown(socket.SHUT_WR)
                heard = b""
                while data := end.recv(1 << 16):
                    heard += data
                end.sendall(b"answer")
                assert (len(heard), line.recv(10)) == (200_000, b"answer")
