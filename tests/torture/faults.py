"""What can happen to a crawl. Each fault is a function that does one thing and undoes it, if it can
be undone."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from sanderling.clock import DAY
from sanderling.testing import ServedWeb
from sanderling.testing.postgres import PostgresServer
from tests.torture import names
from tests.torture.machines import Machines


class Scene:
    """What faults can reach: the web, the folder, the database, the machines and the processes of
    one round."""

    def __init__(
        self, folder: Path, database: PostgresServer | None, log: Path, token: str, small: bool = False
    ) -> None:
        self.folder = folder
        self.database = database
        self.log = log
        self.token = token
        self.small = small
        self.site: ServedWeb | None = None
        self.hosts: Path | None = None
        self.machines: Machines | None = None
        self.small_disk = False
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
    assert scene.site is not None
    scene.site.go_away()
    time.sleep(chance.choice((0.05, 0.3, 1.0, 3.0)))
    scene.site.come_back()


def names_away(scene: Scene, chance: random.Random) -> None:
    """Names cannot be resolved for a while, and connections have to be made anew."""
    assert scene.hosts is not None and scene.site is not None
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


def clock_set_back(scene: Scene, chance: random.Random) -> None:
    """As when a machine had a wrong date: what was stored for later lies days ahead."""
    scene.clock_ahead -= chance.uniform(0.5, 3.0) * DAY


def kill_browser(scene: Scene, chance: random.Random) -> None:
    """One process of a browser: all of it, a tab, its network."""
    browsers = [pid for pid in scene.processes if b"--headless" in _command_of(pid) or b"--type=" in _command_of(pid)]
    _send([chance.choice(browsers)] if browsers else [], signal.SIGKILL)


def cut_machine(scene: Scene, chance: random.Random) -> None:
    """A machine of the cluster loses its network, for less or more than the server waits for it."""
    assert scene.machines is not None
    _cut(scene.machines, [chance.randrange(scene.machines.count)], chance)


def cut_all_machines(scene: Scene, chance: random.Random) -> None:
    assert scene.machines is not None
    _cut(scene.machines, range(scene.machines.count), chance)


def _cut(machines: Machines, numbers: Sequence[int], chance: random.Random) -> None:
    for number in numbers:
        machines.cut(number)
    time.sleep(chance.choice((0.3, 3.0, 12.0)))
    for number in numbers:
        machines.mend(number)


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


def _command_of(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


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


def possible(scene: Scene) -> list[Fault]:
    """The faults that this machine and this round allow."""
    found: list[Fault] = [kill_one, kill_one, kill_all, stop_one, ask_to_stop, clock_jumps, clock_set_back]
    if scene.site is not None:
        found.append(server_away)
    else:
        found += [kill_browser, kill_browser, kill_browser]
    if scene.machines is not None:
        found += [cut_machine, cut_machine, cut_all_machines]
    if scene.database is not None:
        found.append(database_restarts)
    if scene.hosts is not None:
        found.append(names_away)
    if scene.small_disk:
        found.append(disk_full)
    return found
