"""Crawls on a real Ray with several nodes. All tests of this kind are here, so that one cluster
serves them all.
"""

import asyncio
import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator

import sanderling as program
from sanderling.cluster.credentials import FOLDER, Credentials
from sanderling.cluster.engine import Engine
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import MachineTerms, encode
from sanderling.model import Live
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.server.requests import remote
from sanderling.testing import SyntheticWeb
from tests.cluster.local_machine import ExpectedLine, switchboard_in
from tests.conftest import FAST, PATIENT, Run, started, stored_urls
from tests.test_lines import (  # the contract of every line, with the lines of this file
    Lines,
    test_a_large_message_to_one_client_does_not_keep_others_waiting,
    test_a_server_that_does_not_want_a_client_hangs_up,
    test_the_descriptor_is_readable_when_there_is_something_to_hear,
    test_what_one_side_says_the_other_hears,
)
from tests.waiting import PATIENCE, until
from tests.web.served import running

__all__ = [
    "test_a_large_message_to_one_client_does_not_keep_others_waiting",
    "test_a_server_that_does_not_want_a_client_hangs_up",
    "test_the_descriptor_is_readable_when_there_is_something_to_hear",
    "test_what_one_side_says_the_other_hears",
]


class Nodes(NamedTuple):
    """A running cluster: its address, and the process group of every machine by name."""

    address: str
    environment: dict[str, str]
    groups: dict[str, "subprocess.Popen[str]"]


@contextmanager
def node(environment: dict[str, str], *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    with started("cluster", *arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert "until this command is stopped" in said, said + process.stdout.read()
        yield process


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A head that runs no clients, and two machines, all on loopback."""
    environment = {**os.environ, FOLDER: str(tmp_path_factory.mktemp("cluster"))}
    os.environ[FOLDER] = environment[FOLDER]
    with ExitStack() as stack:
        port = random.SystemRandom().randrange(20_000, 30_000)
        address = f"127.0.0.1:{port}"
        groups = {
            "head": stack.enter_context(node(environment, "start", "--port", port, "--name", "head", "--weight", 0))
        }
        for name in ("one", "two"):
            groups[name] = stack.enter_context(join(environment, address, name))
        yield Nodes(address, environment, groups)
    del os.environ[FOLDER]


def join(environment: dict[str, str], address: str, name: str):  # type: ignore[no-untyped-def]
    return node(environment, "join", address, "--own", "127.0.0.1", "--name", name, "--weight", 2)


# ---- lines


@pytest.fixture(scope="module")
def engine(nodes: Nodes) -> Iterator[Engine]:
    with closing(Engine(nodes.address)) as connected:
        yield connected


@pytest.fixture
def lines(engine: Engine, tmp_path: Path) -> Iterator[Lines]:
    with closing(switchboard_in(tmp_path)) as switchboard, ExitStack() as callers:
        spools: list[str] = []
        switchboard.on_greeting = lambda link, greeting: spools.append(greeting.spool)
        (there,) = [each for each in engine.nodes if each.name == "one"]
        link = switchboard.open(there, engine.start(there, encode(MachineTerms(60.0))), Waits(60.0))
        until(lambda: switchboard.poll(0.1) and spools)
        yield Lines(switchboard, lambda: callers.enter_context(closing(ExpectedLine(link, Path(spools[0])))))


# ---- whole crawls


def crawl(folder: Path, url: object, nodes: Nodes, *more: object):  # type: ignore[no-untyped-def]
    arguments = ("crawl", url, "-d", folder, *FAST, "--cluster", nodes.address, "--clients", 4, *more)
    return started(*arguments, env=nodes.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def live(folder: Path) -> Live | None:
    try:
        return remote.look(folder, PATIENCE)
    except remote.NotRunning:
        return None


def process_of(client: str) -> int:
    """The process of a client on another machine, which is this one."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                arguments = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"sanderling.jobs.client" in arguments and client.encode() in arguments:
                return int(place.name)
    return 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def machines(folder: Path) -> Counter[str]:
    state = live(folder)
    return Counter(each.machine for each in state.clients) if state else Counter()


def test_a_crawl_on_other_machines_survives_the_death_of_anything(nodes: Nodes, tmp_path: Path) -> None:
    """A client, a machine's actor and a whole node are killed: every page is stored once."""
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=1000, seed=3, latency=0.005).serve() as site, ExitStack() as nodes_added:
        site.hold(after=150)
        with crawl(folder, site.url, nodes, "--cluster-patience", "4s") as process:
            until(lambda: site.held and machines(folder) == {"one": 2, "two": 2})
            (victim, *_) = [each.name for each in remote.look(folder, PATIENCE).clients if each.machine == "one"]
            os.kill(process_of(victim), signal.SIGKILL)
            site.hold(after=150)
            until(lambda: site.held and (state := live(folder)) and state.replaced == 1 and len(state.clients) == 4)
            (victim, *_) = [each.name for each in remote.look(folder, PATIENCE).clients if each.machine == "one"]
            os.kill(parent_of(process_of(victim)), signal.SIGKILL)
            site.hold(after=150)
            until(lambda: site.held and machines(folder) == {"one": 2, "two": 2})
            victims = [process_of(each.name) for each in remote.look(folder, PATIENCE).clients if each.machine == "two"]
            os.killpg(nodes.groups["two"].pid, signal.SIGKILL)
            until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in victims))
            site.hold(after=150)
            until(lambda: site.held and machines(folder) == {"one": 4})
            nodes_added.enter_context(join(nodes.environment, nodes.address, "two"))
            until(lambda: machines(folder) == {"one": 2, "two": 2})
            site.release()
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        expected = site.direct.reachable(0)
        requests = sum(site.requests.values())
    assert Counter(stored_urls(folder)) == Counter(expected), err
    # What was leased at each death may be asked for again: at most a stock of the host for each
    # client that died.
    assert requests <= len(expected) + 5 * 200
    assert out.startswith("1,000 pages")


def test_a_killed_server_resumes_on_the_cluster(nodes: Nodes, tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=300, seed=4).serve() as site:
        site.hold(after=100)
        with crawl(folder, site.url, nodes) as process:
            until(lambda: site.held and live(folder))
            clients = [process_of(each.name) for each in remote.look(folder, PATIENCE).clients]
            os.killpg(process.pid, signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in clients if pid))
        site.release()
        ran = sanderling("crawl", "-d", folder, "--json", env=nodes.environment)
        assert (ran.code, ran.json["pages"]) == (0, 300), ran.err
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))
    assert sanderling("check", folder).code == 0


# ---- levels


def relays() -> dict[str, int]:
    """The processes of all relays, by the name of the relay."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                arguments = (place / "cmdline").read_bytes().split(b"\0")
                if b"sanderling.jobs.relay" in arguments:
                    found[arguments[3].decode()] = int(place.name)
    return found


def levels(folder: Path) -> set[tuple[str, int, bool, int]]:
    """Machines with clients: name, level, whether it is a relay, and how many clients."""
    state = live(folder)
    return (
        {(each.name, each.level, each.relay, each.clients) for each in state.machines if each.clients}
        if state
        else set()
    )


def test_a_tree_of_three_levels_brings_the_pages_of_one_machine(nodes: Nodes, tmp_path: Path, sanderling: Run) -> None:
    """Its relays are killed, one after the other."""
    folder, web = tmp_path / "crawl", SyntheticWeb(hosts=12, pages=600, seed=3, latency=0.005)
    with web.serve() as site, ExitStack() as added:
        for name in ("two", "three"):  # a test before this one may have killed a machine
            if name not in nodes.groups or nodes.groups[name].poll() is not None:
                added.enter_context(join(nodes.environment, nodes.address, name))
        (seeds := tmp_path / "seeds").write_text("\n".join(site.seeds))
        site.hold(after=100)
        tree = ("--levels", 3, "--fan-out", 1, "--relay-alone", "2s", "--cluster-patience", "4s", "--clients", 3)
        other = ("--proxy", site.proxy, "--scope", "any", "--no-sitemaps", *PATIENT)
        before = set(relays())
        with crawl(folder, f"--seeds={seeds}", nodes, *tree, *other) as process:
            whole = {
                ("one", 1, True, 3), ("one", 2, False, 1), ("three", 2, True, 2), ("three", 3, False, 1),
                ("two", 3, False, 1),
            }  # fmt: skip
            until(lambda: site.held and levels(folder) == whole)
            for which in (max, min):  # the lower one was started last
                ours = {name: pid for name, pid in relays().items() if name not in before}
                os.kill(which(ours.values()), signal.SIGKILL)
                site.hold(after=100)
                until(lambda: site.held)
            site.release()
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        asked = sum(site.requests.values())
    assert Counter(stored_urls(folder)) == Counter(web.reachable(0)), err
    assert asked <= len(web.reachable(0)) + 2 * 300, asked
    assert sanderling("check", folder).code == 0


def sent_by(summary: dict[str, Any]) -> int:
    """What machines of the cluster sent: more than nothing, if the crawl ran there."""
    return sum(machine["sent"] for machine in summary["machines"])


def test_a_refresh_runs_on_the_cluster(nodes: Nodes, tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=30, seed=6).serve() as site:
        ran = sanderling(
            "crawl", site.url, "-d", folder, *FAST, "--cluster", nodes.address, "--clients", 1, "--json",
            env=nodes.environment,
        )  # fmt: skip
        assert ran.code == 0 and sent_by(ran.json), ran.err
        site.clock.advance(10 * 86_400)
        again = sanderling(
            "refresh", folder, "--policy", "all", "--json", env={**nodes.environment, "SANDERLING_AHEAD": "864000"}
        )
        assert again.code == 0 and sent_by(again.json), again.err
        assert again.json["visits"] >= 30 and again.json["changed"]
    assert sanderling("check", folder, "--deep").code == 0


def test_a_program_crawls_on_the_cluster(nodes: Nodes, tmp_path: Path) -> None:
    async def bodies(seed: str) -> dict[str, bytes]:
        settings = {"delay": 0, "per_host": 4, "clients": 1, "cluster": nodes.address}
        async with program.Crawl(tmp_path / "crawl", seeds=[seed], **settings) as crawl:
            return {page.url: page.body() async for page in crawl}

    with SyntheticWeb(hosts=1, pages=20, seed=7).serve() as site:
        found = asyncio.run(bodies(site.url))
        assert found == {url: site.direct.body(url, 0) for url in site.direct.reachable(0)}


def test_the_dashboard_crawls_on_the_cluster(nodes: Nodes, tmp_path: Path) -> None:
    with (
        SyntheticWeb(hosts=1, pages=20, seed=8).serve() as site,
        running(tmp_path, "--allow-private", "--cluster", nodes.address) as server,
    ):
        site.hold(after=5)
        server.http.headers["x-sanderling"] = "1"
        asked = {"seeds": [site.url], "name": "far", "settings": {"per_host": 8, "delay": 0, "clients": 1}}
        assert server.http.post("/api/v1/crawls", json=asked).status_code == 201
        until(lambda: machines(tmp_path / "far"))
        assert set(machines(tmp_path / "far")) <= {"one", "two"}
        measured = server.http.get("/metrics").text
        assert 'sanderling_machine_clients{crawl="far",machine="' in measured
        site.release()
        until(lambda: not server.http.get("/api/v1/crawls/far").json()["running"])
        assert server.http.get("/api/v1/crawls/far").json()["counts"]["pages"] == 20


def test_a_wrong_token_is_refused_with_one_sentence(
    nodes: Nodes, tmp_path: Path, sanderling: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a proxy in the environment, which is not for the lines between machines."""
    for name in [each for each in os.environ if each.startswith("RAY_")]:
        monkeypatch.delenv(name)  # set by a crawl of this process, with the right token
    credentials = Credentials(tmp_path / "other")
    shutil.copytree(nodes.environment[FOLDER], credentials.path)
    credentials.token.unlink()
    credentials.make_token()
    environment = {**nodes.environment, FOLDER: str(credentials.path), "http_proxy": "http://127.0.0.1:1"}
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "c", "--cluster", nodes.address, env=environment)
    assert ran.code == 1 and len(ran.err.splitlines()) == 1 and "does not accept this machine's token" in ran.err
    assert not (tmp_path / "c").exists()
    joining = ("cluster", "join", nodes.address, "--own", "127.0.0.1")
    assert "does not accept this machine's token" in sanderling(*joining, env=environment).err


def test_a_listener_without_a_certificate_of_the_cluster_gets_no_token(
    nodes: Nodes, tmp_path: Path, sanderling: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On loopback any user may listen where a head was. Nor does one wait for it."""
    for name in [each for each in os.environ if each.startswith("RAY_")]:  # of a test before this one
        monkeypatch.delenv(name)
    other = Credentials(tmp_path / "other")
    other.make_authority()
    other.make_own("127.0.0.1")
    environment = {name: value for name, value in nodes.environment.items() if not name.startswith("RAY_")}
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    line, _ = stranger.accept()
                    with line:
                        heard.append(line.recv(1 << 16))

        threading.Thread(target=listen, daemon=True).start()
        for folder, address, said in (
            (other.path, nodes.address, "has other certificates"),
            (nodes.environment[FOLDER], f"127.0.0.1:{stranger.getsockname()[1]}", "copy the folder of the token"),
        ):
            environment[FOLDER] = str(folder)
            place = tmp_path / "c"
            ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", place, "--cluster", address, env=environment)
            assert ran.code == 1 and len(ran.err.splitlines()) == 1 and said in ran.err
            joining = sanderling("cluster", "join", address, "--own", "127.0.0.1", env=environment)
            assert joining.code == 1 and said in joining.err
            assert not place.exists()
    token = Credentials(Path(nodes.environment[FOLDER])).token.read_bytes()
    assert any(heard) and token not in b"".join(heard)


# ---- clocks

ELSEWHEN = """
import time

of_day, monotonic = time.time, time.monotonic
time.time = lambda: of_day() + 5 * 3600
time.monotonic = lambda: monotonic() + 1e6
"""


def test_a_machine_whose_clocks_are_hours_ahead(nodes: Nodes, tmp_path: Path) -> None:
    """Pages, archives and hosts have the times of the server, and pauses are kept."""
    folder, web, began = tmp_path / "crawl", SyntheticWeb(hosts=8, pages=80, seed=5), time.time()
    (tmp_path / "sitecustomize.py").write_text(ELSEWHEN)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with web.serve() as site, ExitStack() as added:
        added.enter_context(join({**nodes.environment, "PYTHONPATH": path}, nodes.address, "ahead"))
        (seeds := tmp_path / "seeds").write_text("\n".join(site.seeds))
        other = ("--proxy", site.proxy, "--scope", "any", "--no-sitemaps", "--delay", "0.1", "--clients", 6)
        site.hold(after=20)
        with crawl(folder, f"--seeds={seeds}", nodes, *other, *PATIENT, "--json") as process:
            until(lambda: site.held and {"one", "ahead"} <= machines(folder).keys())
            site.release()
            out, err = process.communicate(timeout=PATIENCE)
        took = time.time() - began
        assert process.returncode == 0, err
        assert "ahead" in {each["name"] for each in json.loads(out)["machines"] if each["sent"]}
        robots = sum(count for url, count in site.requests.items() if url.endswith("/robots.txt"))
        assert sum(site.requests.values()) - robots == len(web.reachable(0))
    assert Counter(stored_urls(folder)) == Counter(web.reachable(0)), err
    with closing(open_store(Folder(folder), readonly=True)) as store:
        times = [page.fetched_at for page in store.pages()] + [host.not_before - 1 for host in store.hosts()]
    for path in (folder / "warc").glob("*.warc.gz"):
        dates = [record.record_date for record in FastIterator(io.BytesIO(path.read_bytes()))]
        times += [each.timestamp() for each in dates if each is not None]
    assert len(times) > 3 * 80 and began - 1 <= min(times) and max(times) <= began + took + 1


# ---- the head; these tests are the last ones, because the second one ends it


def children_of(pid: int, name: str) -> list[int]:
    """The child processes whose program has a name."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                program = (place / "cmdline").read_bytes().split(b"\0")[0].decode()
                if Path(program).name == name and parent_of(int(place.name)) == pid:
                    found.append(int(place.name))
    return found


def test_a_machine_that_the_head_gave_up_joins_again(nodes: Nodes) -> None:
    """Ray ends the node of a machine that was cut off for too long and can be reached again."""
    with join(nodes.environment, nodes.address, "again") as machine:
        assert machine.stdout is not None
        [node] = children_of(machine.pid, "raylet")
        os.kill(node, signal.SIGABRT)
        assert "it joins the cluster again" in machine.stdout.readline()
        assert "until this command is stopped" in machine.stdout.readline()
        assert children_of(machine.pid, "raylet") not in ([], [node])


def test_a_head_whose_process_dies_is_started_again(nodes: Nodes, tmp_path: Path) -> None:
    """The crawl goes on, and machines can join afterwards."""
    folder, head = tmp_path / "crawl", nodes.groups["head"]
    with SyntheticWeb(hosts=1, pages=200, seed=9).serve() as site, ExitStack() as added:
        site.hold(after=50)
        with crawl(folder, site.url, nodes, *PATIENT) as process:
            until(lambda: site.held and machines(folder))
            (victim,) = children_of(head.pid, "gcs_server")
            os.kill(victim, signal.SIGKILL)
            assert head.stdout is not None
            said = [head.stdout.readline(), head.stdout.readline()]
            assert said[-1] == "sanderling: the head of the cluster was ended by signal 9, and was started again\n", (
                said
            )
            added.enter_context(join(nodes.environment, nodes.address, "four"))
            until(lambda: "four" in {each.name for each in remote.look(folder, PATIENCE).machines})
            site.release()
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 and "lost" not in err, err
        # The clients that leave for those of the new machine end what they had in flight.
        assert sum(site.requests.values()) <= len(site.direct.reachable(0)) + 1 + 2 * 8
    assert out.startswith("200 pages")


def test_a_crawl_whose_head_ends_stops_and_can_be_resumed(nodes: Nodes, tmp_path: Path, sanderling: Run) -> None:
    """The machines return to a head that is started again with the same command."""
    folder, port = tmp_path / "crawl", nodes.address.rpartition(":")[2]
    with SyntheticWeb(hosts=1, pages=200, seed=9).serve() as site, ExitStack() as added:
        site.hold(after=50)
        with crawl(folder, site.url, nodes) as process:
            until(lambda: site.held and machines(folder))
            os.killpg(nodes.groups["head"].pid, signal.SIGKILL)
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        sentence = "stopped: the node of the cluster on this machine ended; start it again, then run the same command to resume"
        assert [line for line in err.splitlines() if "pages" not in line] == [f"sanderling: {sentence}"]
        site.release()
        added.enter_context(node(nodes.environment, "start", "--port", port, "--name", "head", "--weight", 0))
        ran = sanderling("crawl", "-d", folder, "--json", env=nodes.environment)
        assert (ran.code, ran.json["pages"]) == (0, 200), ran.err
        assert {each["name"] for each in ran.json["machines"] if each["sent"]} <= {"one", "two"}
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))
