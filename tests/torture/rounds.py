"""One round: a web is crawled, changes, is visited again and loses parts of its archive, under
faults all the time. A course is a kind of round: `COURSES`."""

import contextlib
import random
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import sanderling
from sanderling.browser.finding import find
from sanderling.clock import DAY
from sanderling.testing import ServedWeb, SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.rendering.app import app, content
from tests.servers import PageServer
from tests.telling.endpoint import Endpoint
from tests.torture import faults, machines, names, truth
from tests.torture.commands import get_through
from tests.torture.faults import Scene

_POLITE = ("--per-host", 4, "--delay", 0, "--retry-wait", "300ms", "--min-free", "1MiB")
_DISK = "256m"
# Of small rounds.
_SMALL_PAGES = range(60, 120)


class Result(NamedTuple):
    """What one round went through."""

    pages: int
    starts: int
    happened: Counter[str]


class Round:
    """What all courses have: a scene, chance, and commands under faults."""

    def __init__(self, scene: Scene, chance: random.Random, undo: contextlib.ExitStack) -> None:
        self.scene = scene
        self.chance = chance
        self.undo = undo
        self.starts = 0

    @property
    def folder(self) -> Path:
        return self.scene.folder

    def serve(self, pages: range, address: str = "127.0.0.1", name: str = "") -> ServedWeb:
        pages = _SMALL_PAGES if self.scene.small else pages
        web = SyntheticWeb(
            hosts=1, pages=self.chance.choice(pages), seed=self.chance.randrange(1 << 30),
            latency=self.chance.choice((0.0, 0.005, 0.02)),
        )  # fmt: skip
        self.scene.site = self.undo.enter_context(web.serve(address=address, name=name))
        return self.scene.site

    def crawl(self, *arguments: object) -> None:
        self.starts += get_through(
            self.scene, self.chance, faults.possible(self.scene), "crawl", "-d", self.folder, *arguments
        )

    def begin(self, url: str, *arguments: object, webhook: str = "") -> None:
        store = ("--store", self.scene.database.dsn) if self.scene.database is not None else ()
        arguments = (url, *_POLITE, *arguments, *store)
        if webhook:
            self.command("crawl", "-d", self.folder, "--max-pages", 0, *arguments)
            settings = self.folder / "sanderling.toml"
            told = f'[[webhook]]\nurl = "{webhook}"\nallow_private = true\nbaseline = true\n'
            settings.write_text(settings.read_text().replace("max_pages = 0\n", "") + told)
            arguments = ()
        self.crawl(*arguments)

    def again(self) -> None:
        self.crawl("--again")

    def damage_and_repair(self) -> None:
        damage = self.chance.choice(faults.DAMAGES)
        self.scene.count(damage.__name__)
        damage(self.scene, self.chance)
        self.command("check", self.folder, "--deep", "--repair")

    def command(self, *arguments: object) -> None:
        with self.scene.log.open("ab") as log:
            command = [sys.executable, "-m", "sanderling", *map(str, arguments)]
            assert subprocess.run(command, stdout=log, stderr=log).returncode in (0, 1)


def run(seed: int, with_database: bool, hosts: Path | None, course: str, small: bool) -> Result:
    """One round from its seed number; an AssertionError says what went wrong. `hosts` is the
    /etc/hosts of its own."""
    chance = random.Random(seed)
    with contextlib.ExitStack() as undo:
        place = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="torture-")))
        small_disk = undo.enter_context(_small_disk(place))
        database = undo.enter_context(PostgresServer(durable=True)) if with_database else None
        scene = Scene(place / "crawl", database, place / "log", uuid.uuid4().hex, small)
        scene.small_disk = small_disk
        scene.hosts = hosts if course in ("pages", "collection") else None
        try:
            one = Round(scene, chance, undo)
            pages = COURSES[course](one)
            truth.nothing_is_left(scene)
            return Result(pages, one.starts, scene.happened)
        except AssertionError as error:
            raise AssertionError(f"{error}\n--- the log of round {seed}\n{scene.log.read_text()[-6000:]}") from error


def _pages(one: Round) -> int:
    """Every page of a web, its changes, what a webhook is told of them, and an archive that is
    repaired."""
    site = one.serve(range(100, 500), name=names.NAME if one.scene.hosts is not None else "")
    endpoint = one.undo.enter_context(Endpoint())
    one.begin(site.url, webhook=endpoint.url)
    pages = truth.check(one.scene, site, once=True)
    site.clock.advance(one.chance.uniform(1, 10) * DAY)
    one.again()
    truth.check(one.scene, site, once=False)
    one.command("webhooks", one.folder, "--deliver")
    truth.all_were_told(one.scene, endpoint)
    with sanderling.open(one.folder) as opened:
        before = opened.cursor()
    one.damage_and_repair()
    one.again()
    truth.check_newest(one.scene, site)
    truth.nothing_is_new(one.scene, before)
    return pages


def _collection(one: Round) -> int:
    """A collection keeps its number of pages, each stored once for each of its contents."""
    site = one.serve(range(60, 200), name=names.NAME if one.scene.hosts is not None else "")
    most = one.chance.randrange(20, 50)
    one.begin(site.url, "--collection", most)
    pages = truth.check_collection(one.scene, site, most)
    site.clock.advance(one.chance.uniform(1, 10) * DAY)
    one.again()
    truth.check_collection(one.scene, site, most)
    return pages


def _rendered(one: Round) -> int:
    """The pages of an application, which say nothing without a browser."""
    count = one.chance.randrange(12, 30)
    site = one.undo.enter_context(PageServer(app(count)))
    texts = {number: f"unique{number} " for number in range(count)}
    one.begin(site.origin + "/", "--render", "auto")
    truth.check_rendered(one.scene, site.origin, texts, excused=True)
    for number in one.chance.sample(range(count), 3):
        texts[number] = f"another text of page {number} since the tide turned"
        site.table[f"/api/{number}.json"] = content(number, count, texts[number])
    one.again()
    truth.check_rendered(one.scene, site.origin, texts, excused=True)
    one.starts += get_through(one.scene, one.chance, [], "crawl", "-d", one.folder, "--again")
    return truth.check_rendered(one.scene, site.origin, texts, excused=False)


def _cluster(one: Round) -> int:
    """Machines that are cut off and come back."""
    place = one.undo.enter_context(tempfile.TemporaryDirectory(prefix="torture-"))  # not on the small disk
    one.scene.machines = one.undo.enter_context(machines.machines(Path(place)))
    site = one.serve(range(200, 400), address=machines.Machines.address)
    one.begin(site.url, *machines.Machines.crawl, "--clients", 4)
    pages = truth.check(one.scene, site, once=True)
    site.clock.advance(one.chance.uniform(1, 10) * DAY)
    one.again()
    truth.check(one.scene, site, once=False)
    return pages


COURSES: dict[str, Callable[[Round], int]] = {
    "pages": _pages, "collection": _collection, "rendered": _rendered, "cluster": _cluster,
}  # fmt: skip
# Most rounds are of the kind that reaches most of the program.
_OFTEN = {"pages": 4, "collection": 2, "rendered": 2, "cluster": 1}


def possible(wanted: list[str]) -> list[str]:
    """Those courses that this machine allows, each as often as it comes in turn."""
    impossible = set[str]()
    if find(None) is None:
        impossible.add("rendered")
    if "cluster" in wanted and not machines.possible():
        impossible.add("cluster")
    return [course for course in wanted if course not in impossible for _ in range(_OFTEN[course])]


@contextlib.contextmanager
def _small_disk(place: Path) -> Iterator[bool]:
    """A disk of its own for the round, where the system lets us mount one."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "torture", str(place)], capture_output=True
    ).returncode == 0  # fmt: skip
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], capture_output=True)
