"""One round: a web is crawled, changes, is visited again and loses parts of its archive, under
faults all the time."""

import contextlib
import random
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sanderling.clock import DAY
from sanderling.testing import SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.torture import faults, names, truth
from tests.torture.commands import get_through
from tests.torture.faults import Scene

_POLITE = ("--per-host", 4, "--delay", 0, "--retry-wait", "300ms", "--min-free", "1MiB")
_DISK = "256m"


class Result(NamedTuple):
    """What one round went through."""

    pages: int
    starts: int
    happened: Counter[str]


def run(seed: int, with_database: bool, hosts: Path | None) -> Result:
    """One round from its seed number; an AssertionError says what went wrong. `hosts` is the
    /etc/hosts of its own."""
    chance = random.Random(seed)
    with contextlib.ExitStack() as undo:
        place = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="torture-")))
        small_disk = undo.enter_context(_small_disk(place))
        database = undo.enter_context(PostgresServer(durable=True)) if with_database else None
        web = SyntheticWeb(
            hosts=1, pages=chance.randrange(100, 500), seed=seed, latency=chance.choice((0.0, 0.005, 0.02))
        )
        site = undo.enter_context(web.serve(name=names.NAME if hosts is not None else ""))
        scene = Scene(site, place / "crawl", database, hosts, place / "log", uuid.uuid4().hex)
        try:
            return _steps(scene, chance, faults.possible(scene, small_disk))
        except AssertionError as error:
            raise AssertionError(f"{error}\n--- the log of round {seed}\n{scene.log.read_text()[-6000:]}") from error


def _steps(scene: Scene, chance: random.Random, possible: list[faults.Fault]) -> Result:
    store = ("--store", scene.database.dsn) if scene.database is not None else ()
    starts = get_through(
        scene, chance, possible, "crawl", scene.site.url, "-d", scene.folder, "--clients", 2, *_POLITE, *store
    )
    pages = truth.check(scene, once=True)
    scene.site.clock.advance(chance.uniform(1, 10) * DAY)
    starts += get_through(scene, chance, possible, "crawl", "-d", scene.folder, "--again")
    truth.check(scene, once=False)
    damage = chance.choice(faults.DAMAGES)
    scene.count(damage.__name__)
    damage(scene, chance)
    _repair(scene)
    starts += get_through(scene, chance, possible, "crawl", "-d", scene.folder, "--again")
    truth.check_newest(scene)
    return Result(pages, starts, scene.happened)


def _repair(scene: Scene) -> None:
    with scene.log.open("ab") as log:
        command = [sys.executable, "-m", "sanderling", "check", str(scene.folder), "--deep", "--repair"]
        assert subprocess.run(command, stdout=log, stderr=log).returncode in (0, 1)


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
