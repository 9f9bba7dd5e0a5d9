"""The network goes down: no page counts as failed, and dead hosts do not look like a network
outage."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sanderling.errors import RunFailed
from sanderling.model import Host, Outcome, Visit
from sanderling.server.frontier import outage
from sanderling.server.frontier.outage import Connectivity
from sanderling.server.requests import remote
from sanderling.settings import Settings
from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import FAST, Ran, started
from tests.servers import PageServer, closed, links
from tests.waiting import PATIENCE, until

Run = Callable[..., Ran]

AWAY, BACK = "the network seems to be away", "the network is back"


@contextmanager
def cut_off(web: SyntheticWeb, home: Path, after: int, *more: object) -> Iterator[tuple[Any, Path, ServedWeb]]:
    """A crawl of many hosts through a proxy that goes away after some pages, once the crawl has
    noticed it."""
    errors, seeds = home / "errors", home / "seeds"
    seeds.write_text("\n".join(web.seeds))
    with ExitStack() as stack:
        with web.serve(address="127.0.0.62") as site:  # no other process takes this port
            site.hold(after=after)
            process = stack.enter_context(
                started(
                    "crawl", "--seeds", seeds, "-d", home / "c", "--proxy", site.proxy, *FAST, "--retry-wait", "1s",
                    "--json", *more, stdout=subprocess.PIPE, stderr=stack.enter_context(errors.open("w")),
                )
            )  # fmt: skip
            until(lambda: site.held)
        until(lambda: AWAY in errors.read_text())
        yield process, errors, site


def back(site: ServedWeb) -> ServedWeb:
    return site.web.serve(address="127.0.0.62", port=int(site.proxy.rpartition(":")[2]))


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_a_crawl_waits_for_a_network_that_went_away(
    store: str, sanderling: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = ("--store", request.getfixturevalue("postgres").dsn) if store == "postgresql" else ()
    with cut_off(SyntheticWeb(hosts=8, pages=120, seed=5), tmp_path, 40, *where) as (process, errors, site):
        assert remote.look(tmp_path / "c", PATIENCE).away
        assert "; the network is away" in sanderling("control", tmp_path / "c").out
        with back(site):
            summary = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert (process.returncode, summary["pages"], summary["failed"], summary["queued"]) == (0, 120, 0, 0)
    assert errors.read_text().count(AWAY) == errors.read_text().count(BACK)


def test_so_does_one_of_hosts_that_are_never_asked_twice(tmp_path: Path) -> None:
    only_fronts = ("--max-depth", 0, "--connections", 4)
    web = SyntheticWeb(hosts=40, pages=80, seed=5)
    with cut_off(web, tmp_path, 10, *only_fronts) as (process, _, site), back(site):
        summary = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert (summary["pages"], summary["failed"], summary["queued"]) == (40, 0, 0)


def test_so_does_one_that_visits_everything_again(sanderling: Run, tmp_path: Path) -> None:
    web = SyntheticWeb(hosts=8, pages=60, seed=5)
    with web.serve() as site:
        sanderling("crawl", *web.seeds, "-d", tmp_path / "c", "--proxy", site.proxy, *FAST)
    with cut_off(web, tmp_path, 20, "--again", "--no-index") as (process, _, site), back(site):
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    pages = sanderling("pages", tmp_path / "c", "--json").lines
    assert [(page["state"], page["visits"]) for page in pages] == [("fetched", 2)] * 60


def test_who_has_waited_enough_goes_on_later(sanderling: Run, tmp_path: Path) -> None:
    web = SyntheticWeb(hosts=8, pages=60, seed=5)
    with cut_off(web, tmp_path, 20) as (process, _, site):
        process.send_signal(signal.SIGINT)
        summary = json.loads(process.communicate(timeout=PATIENCE)[0])
        assert (process.returncode, summary["failed"]) == (130, 0)
        assert summary["queued"] == summary["known"] - summary["fetched"] > 0
        with back(site):
            ran = sanderling("crawl", "-d", tmp_path / "c", "--proxy", site.proxy, *FAST, "--json")
    assert (ran.json["pages"], ran.json["failed"]) == (60, 0)


def test_dead_hosts_are_not_the_network_when_one_that_answered_is_there(sanderling: Run, tmp_path: Path) -> None:
    """Also if nothing is left to visit on that host."""
    with closed() as none, PageServer({}) as server:
        port = none.rpartition(":")[2]
        server.table["/"] = links(*(f"http://127.0.0.{host}:{port}/{n}" for host in range(70, 76) for n in range(10)))
        ran = sanderling(
            "crawl", server.origin, "-d", tmp_path / "c", "--scope", "any", "--allow-private", "--no-sitemaps",
            "--retry-wait", "200ms", "--clients", 1, *FAST, "--json",
        )  # fmt: skip
        assert server.requests["/robots.txt"] > 1  # it was in doubt
    assert (ran.code, ran.json["pages"], ran.json["failed"], ran.json["queued"]) == (0, 1, 60, 0)
    assert "network" not in ran.err


def test_seeds_that_are_all_dead_are_not_the_network(sanderling: Run, tmp_path: Path) -> None:
    with closed() as none:
        port = none.rpartition(":")[2]
        seeds = [f"http://127.0.0.{host}:{port}/" for host in range(70, 76)]
        ran = sanderling("crawl", *seeds, "-d", tmp_path / "c", "--retry-wait", "200ms", *FAST)
    assert (ran.code, ran.err.splitlines()[-1]) == (1, "sanderling: not one page could be fetched")
    assert "network" not in ran.err
    assert {page["state"] for page in sanderling("pages", tmp_path / "c", "--json").lines} == {"failed"}


# ---- the judgement itself


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(outage.time, "monotonic", lambda: watch.now)
    return watch


class World:
    """Hosts that can be reached, and a record of those that were tried."""

    def __init__(self, *there: int) -> None:
        self.there = {origin(host) for host in there}
        self.asked: list[list[str]] = []

    def __call__(self, origins: list[str]) -> bool:
        self.asked.append(origins)
        return bool(self.there.intersection(origins))


def origin(host: int) -> str:
    return f"http://host{host}.test"


def silent(*hosts: int, at: float = 0.0) -> list[tuple[Visit, Host]]:
    named = enumerate(hosts, 1)
    return [(Visit(id=n, outcome=Outcome.RETRY, at=at, reason="no route"), Host(h, origin(h))) for n, h in named]


def answers(*hosts: int, at: float = 0.0) -> list[tuple[Visit, Host]]:
    return [(Visit(id=99, outcome=Outcome.PAGE, at=at, status=200), Host(h, origin(h))) for h in hosts]


def decide(net: Connectivity) -> None:
    if net._asked is not None:
        net._asked.result(PATIENCE)
    net.step()


WAIT = Settings().retry_wait


def test_the_hosts_that_answered_last_are_asked(watch: Watch) -> None:
    world = World()
    net = Connectivity(world, WAIT)
    net.hear(answers(1, 2, 3, 4, 4))
    assert net.hear(silent(7, 7, 8, 7, 8, 7)) == set() and not world.asked  # two of them may also be dead hosts
    assert net.hear(silent(7, 8, 9)) == {1, 2, 3}  # no page fails while this is not clear
    decide(net)
    assert world.asked == [[origin(2), origin(3), origin(4)]]
    assert net.away and net.room(100, 0) == 0 and net.hear(silent(9)) == {1}
    watch.now += outage.FIRST_PROBE
    net.step()
    assert (net.room(100, 0), net.room(100, 0)) == (1, 0)  # one host is tried
    world.there = {origin(3)}
    decide(net)
    watch.now += outage.PATIENCE / 2
    net.step()
    decide(net)
    assert not net.away and net.room(100, 0) == 100


def test_who_is_silent_while_the_network_is_there_is_dead(watch: Watch) -> None:
    net = Connectivity(World(1), WAIT)
    net.hear(answers(1))
    assert net.hear(silent(7, 7, 8, 8, 9)) == {1, 2, 3, 4, 5}
    decide(net)
    watch.now += WAIT  # when they are tried again
    assert not net.away and net.hear(silent(7, 7, 8, 8, 9)) == set()


def test_an_answer_ends_all_doubt(watch: Watch) -> None:
    net = Connectivity(World(), WAIT)
    net.hear(answers(1))
    net.hear(silent(7, 7, 8, 8, 9))
    assert net.hear([*silent(7), *answers(1), *silent(8)]) == set()
    decide(net)
    assert not net.away


def test_an_answer_from_before_the_silence_that_is_reported_late_ends_no_doubt(watch: Watch) -> None:
    net = Connectivity(World(), WAIT)
    net.hear(answers(1, at=1.0))
    net.hear(silent(7, 7, 8, 8, 9, at=5.0))
    assert net.hear([*answers(2, at=4.0), *silent(7, at=6.0)]) == {1}
    decide(net)
    assert net.away
    net.hear(answers(2, at=4.5))
    assert net.away
    net.hear(answers(2, at=7.0))
    assert not net.away


def test_nobody_can_tell_where_nobody_has_answered(watch: Watch) -> None:
    world = World()
    net = Connectivity(world, WAIT)
    assert net.hear(silent(1, 2, 3, 4, 5, 6)) == set()
    decide(net)
    assert not net.away and not world.asked


def test_a_question_that_cannot_be_asked_ends_nothing(watch: Watch) -> None:
    def reached(_: list[str]) -> bool:
        raise OSError("too many open files")

    net = Connectivity(reached, WAIT)
    net.hear(answers(1))
    net.hear(silent(7, 7, 8, 8, 9))
    decide(net)
    assert not net.away


def test_a_run_that_is_to_end_gives_up(watch: Watch) -> None:
    net = Connectivity(World(), WAIT)
    net.hear(answers(1))
    net.hear(silent(7, 7, 8, 8, 9))
    decide(net)
    watch.now += outage.PATIENCE + 1
    with pytest.raises(RunFailed, match="no page was marked"):
        net.step()


def test_a_refresh_asks_the_silent_themselves_and_waits_for_ever(watch: Watch) -> None:
    world = World()
    net = Connectivity(world, WAIT, returns=True, gives_up=False)
    net.hear(silent(1, 1, 1, 1, 1), hosts=5)
    assert not world.asked  # one host of five
    net.hear(silent(1), hosts=1)
    decide(net)
    assert net.away and world.asked == [[origin(1)]]
    watch.now += 1e6
    net.step()
    assert net.away
