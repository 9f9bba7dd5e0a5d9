"""What can happen to a crawl. Each fault is a function that does one thing and undoes it, if it can
be undone."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sanderling.testing import ServedWeb
from sanderling.testing.postgres import PostgresServer
from tests.torture import names


class Scene:
    """What faults can reach: the web, the folder, the database and the processes of one round."""

    def __init__(
        self, site: ServedWeb, folder: Path, database: PostgresServer | None, hosts: Path | None, log: Path, token: str
    ) -> None:
        self.hosts = hosts
        self.site = site
        self.folder = folder
        self.database = database
        self.log = log
        self.token = token
        self.processes: list[int] = []
        self.clock_ahead = 0.0
        self.happened: Counter[str] = Counter()

    def count(self, fault: str) -> None:
        self.happened[fault] += 1
        self.say(fault)

    def say(self, line: str) -> None:
        with self.log.open("a") as log:
            log.write(f"[{time.strftime('%H:%M:%S')}] {line}\n")


Fault = Callable[[Scene, random.Random], None]


def kill_one(scene: Scene, chance: random.Random) -> None:
    _send([chance.choice(scene.processes)] if scene.processes else [], signal.SIGKILL)


def kill_all(scene: Scene, chance: random.Random) -> None:
    _send(scene.processes, signal.SIGKILL)


def stop_one(scene: Scene, chance: random.Random) -> None:
    """A process stands still for a while, as on a machine that swaps or sleeps."""
    chosen = [chance.choice(scene.processes)] if scene.processes else []
    _send(chosen, signal.SIGSTOP)
    time.sleep(chance.uniform(0.1, 2.0))
    _send(chosen, signal.SIGCONT)


def ask_to_stop(scene: Scene, chance: random.Random) -> None:
    """What Ctrl-C in a terminal does: every process gets it."""
    _send(scene.processes, signal.SIGINT)


def server_away(scene: Scene, chance: random.Random) -> None:
    """The web server restarts: connections break, and new ones are refused for a while."""
    scene.site.go_away()
    time.sleep(chance.choice((0.05, 0.3, 1.0, 3.0)))
    scene.site.come_back()


def names_away(scene: Scene, chance: random.Random) -> None:
    """Names cannot be resolved for a while, and connections have to be made anew."""
    assert scene.hosts is not None
    names.forget(scene.hosts)
    scene.site.go_away()
    scene.site.come_back()
    time.sleep(chance.choice((0.05, 0.3, 1.0, 3.0)))
    names.know(scene.hosts)


def database_restarts(scene: Scene, chance: random.Random) -> None:
    assert scene.database is not None
    scene.database.stop(chance.choice(("fast", "immediate")))
    time.sleep(chance.uniform(0.0, 1.0))
    scene.database.start()


def clock_jumps(scene: Scene, chance: random.Random) -> None:
    """The next process lives in another time; those that run stay where they are."""
    scene.clock_ahead += chance.choice((-3600.0, -60.0, 60.0, 3600.0))


def disk_full(scene: Scene, chance: random.Random) -> None:
    """Something else fills the disk for a moment. The folder lies on a small disk of its own."""
    filler = scene.folder.parent / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for _ in range(1024):
            file.write(bytes(1 << 20))
    time.sleep(chance.uniform(0.2, 1.0))
    filler.unlink(missing_ok=True)


def _send(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


# ---- while nothing runs


def flip_bytes(scene: Scene, chance: random.Random) -> None:
    path = _archive(scene, chance)
    packed = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 6)):
        start = chance.randrange(len(packed))
        packed[start : start + 16] = chance.randbytes(len(packed[start : start + 16]))
    path.write_bytes(packed)


def cut_archive(scene: Scene, chance: random.Random) -> None:
    path = _archive(scene, chance)
    os.truncate(path, chance.randrange(path.stat().st_size))


def remove_archive(scene: Scene, chance: random.Random) -> None:
    _archive(scene, chance).unlink()


def _archive(scene: Scene, chance: random.Random) -> Path:
    return chance.choice(sorted((scene.folder / "warc").glob("*.warc.gz")))


DAMAGES: list[Fault] = [flip_bytes, cut_archive, remove_archive]


def possible(scene: Scene, small_disk: bool) -> list[Fault]:
    """The faults that this machine and this round allow."""
    found: list[Fault] = [kill_one, kill_one, kill_all, stop_one, ask_to_stop, server_away, clock_jumps]
    if scene.database is not None:
        found.append(database_restarts)
    if scene.hosts is not None:
        found.append(names_away)
    if small_disk:
        found.append(disk_full)
    return found
