"""Teams of real clients on a real web server, whose messages take time (`lab teams --real`).

independent   each crawler is a crawl of its own, with one client
dependent     before each page, a crawler asks all others, at the same time
seed-server   a server gives each connection one URL at a time, after each page
ours          one crawl with all clients

Clients speak to their server through a socket that delays each message. All teams have the same
time, which begins after three requests for each crawler. Downloads are counted at the web server.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from lab.delayed import DelayedSocket
from lab.team_servers import DependentTeam, SeedServer, TeamServer
from sanderling.errors import RunFailed
from sanderling.processes import entry_points
from sanderling.processes.crew import LocalCrew, new_name
from sanderling.processes.marker import marker_path
from sanderling.repository.folder import Folder
from sanderling.server.loop import CrawlServer
from sanderling.server.members.crew import Crew
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import Switchboard
from sanderling.server.opening import OpenCrawl, socket_in
from sanderling.settings import Settings
from sanderling.testing import ServedWeb, SyntheticWeb

TEAMS = ("independent", "dependent", "seed-server", "ours")
LATENCY = 0.2  # seconds until the web server answers
AT_FIRST = 3  # requests for each crawler until the time begins
BEGINS_WITHIN = 60.0  # seconds


class RealTeam(msgspec.Struct, frozen=True):
    """What a team downloaded in the time; `most` is since its start."""

    team: str
    message: float
    downloads: int
    distinct: int
    most: int  # downloads of one page
    killed: int = 0


def compare(
    crawlers: int, seconds: float, message: float, pages: int, connections: int = 1, kill_every: float = 0.0
) -> Iterator[RealTeam]:
    """All teams, one after the other. `kill_every` seconds, a client of ours is killed."""
    for team in TEAMS:
        web = SyntheticWeb(hosts=max(1, pages // 25), pages=pages, latency=LATENCY, appear=0.0, vanish=0.0)
        with web.serve() as site, TemporaryDirectory(prefix="sanderling-lab-") as place:
            settings = Settings(
                delay=0.0, proxy=site.proxy, scope="any", connections=connections, sitemaps=False, hold=False, index=False,
                ignore_robots=True, render="never",
            )  # fmt: skip
            running = _RUNNING[team]
            killed: list[int] = []
            with running(Path(place), site, settings, crawlers, message) as pids:
                _until_begun(site, AT_FIRST * crawlers)
                before = sum(site.requests.values()), len(site.requests)
                end = time.monotonic() + seconds
                while (left := end - time.monotonic()) > 0:
                    time.sleep(min(left, kill_every or left))
                    if kill_every and team == "ours" and time.monotonic() < end and (alive := pids()):
                        killed.append(alive[0])
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(alive[0], signal.SIGKILL)
                counted = dict(site.requests)
        downloads, distinct = sum(counted.values()) - before[0], len(counted) - before[1]
        yield RealTeam(team, message, downloads, distinct, max(counted.values()), len(killed))


def _until_begun(site: ServedWeb, requests: int) -> None:
    deadline = time.monotonic() + BEGINS_WITHIN
    while sum(site.requests.values()) < requests:
        if time.monotonic() > deadline:
            raise RunFailed("the crawlers of a team did not begin")
        time.sleep(0.02)


@contextlib.contextmanager
def _independent(
    place: Path, site: ServedWeb, settings: Settings, crawlers: int, message: float
) -> Iterator[Callable[[], list[int]]]:
    """Every crawler begins with other seeds and follows every link."""
    processes = []
    for number in range(crawlers):
        (seeds := place / f"{number}.txt").write_text("\n".join(site.seeds[number::crawlers]) + "\n")
        flags = (
            "--delay", 0, "--scope", "any", "--no-sitemaps", "--no-hold", "--no-index", "--ignore-robots", "--render", "never",
            "--clients", 1, "--connections", settings.connections, "--proxy", site.proxy,
        )  # fmt: skip
        words = entry_points.command("command", "crawl", "--seeds", seeds, "-d", place / str(number), *flags)
        processes.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    try:
        yield list
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


@contextlib.contextmanager
def _ours(
    place: Path, site: ServedWeb, settings: Settings, crawlers: int, message: float
) -> Iterator[Callable[[], list[int]]]:
    """A crawl whose clients reach it through a slow socket."""
    over, failed, names = threading.Event(), list[BaseException](), list[str]()
    slow, crews = list[DelayedSocket](), list[LocalCrew]()

    def begin(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
        path = opened.run_folder / "slow"
        slow.append(DelayedSocket(path, socket_in(opened.run_folder), message))

        def command(name: str) -> list[str]:
            names.append(name)
            marker = marker_path(opened.run_folder, name)
            return entry_points.command("client", name, path, folder.warcs.absolute(), marker)

        crews.append(LocalCrew(size, command, opened.run_folder))
        return opened.switchboard, crews[0]

    def crawl() -> None:
        try:
            server = CrawlServer(Folder(place / "crawl"), settings, site.seeds, crawlers, place=lambda *_: begin)
            with contextlib.closing(server):
                server.run(lambda progress: None, over.is_set)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=crawl)
    thread.start()
    try:
        yield lambda: [pid for name in names if (pid := crews[0].pid(name))]
    finally:
        over.set()
        thread.join()
        for each in slow:
            each.close()
    if failed:
        raise failed[0]


@contextlib.contextmanager
def _seed_server(
    place: Path, site: ServedWeb, settings: Settings, crawlers: int, message: float
) -> Iterator[Callable[[], list[int]]]:
    with _clients_of(place, crawlers, message, lambda line: SeedServer(line, settings, site.seeds, crawlers)):
        yield list


@contextlib.contextmanager
def _dependent(
    place: Path, site: ServedWeb, settings: Settings, crawlers: int, message: float
) -> Iterator[Callable[[], list[int]]]:
    """A crawler has its queue beside it: only its questions take time."""
    with _clients_of(place, crawlers, 0.0, lambda line: DependentTeam(line, settings, site.seeds, crawlers, message)):
        yield list


@contextlib.contextmanager
def _clients_of(
    place: Path, crawlers: int, delay: float, server_on: Callable[[SocketSwitchboard], TeamServer]
) -> Iterator[None]:
    (run := place / "run").mkdir()
    (place / "warc" / "run").mkdir(parents=True)
    path, over = run / "slow", threading.Event()
    with (
        contextlib.closing(SocketSwitchboard(run / "socket")) as switchboard,
        contextlib.closing(DelayedSocket(path, run / "socket", delay)),
    ):
        thread = threading.Thread(target=server_on(switchboard).run, args=(over,))
        thread.start()
        processes = []
        for name in (new_name() for _ in range(crawlers)):
            words = entry_points.command("client", name, path, place / "warc", marker_path(run, name))
            processes.append(subprocess.Popen(words))
        try:
            yield
        finally:
            over.set()
            thread.join()
            for process in processes:
                process.kill()
                process.wait()


_RUNNING = {"independent": _independent, "dependent": _dependent, "seed-server": _seed_server, "ours": _ours}
