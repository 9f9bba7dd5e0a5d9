"""Runs commands of Sanderling while faults happen to them, until they get through."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from sanderling.browser.process import descendants
from tests.torture.faults import Fault, Scene

MARK = "SANDERLING_TORTURE"
# A command that does not get through after so many starts never will.
MOST_STARTS = 60
LONGEST_RUN = 180.0
# The server of a crawl with two clients has 12 open files and sockets. One that kept those of every
# client that died would have more with each fault.
MOST_DESCRIPTORS = 30
OF_RAY = 50  # Ray itself has about 30
# The last runs are left in peace, so that every step ends.
MOST_FAULTS, FEW_FAULTS = 12, 4


class Stuck(AssertionError):
    """A command that does not end, or never succeeds."""


def get_through(scene: Scene, chance: random.Random, faults: list[Fault], *arguments: object) -> int:
    """Runs a command again and again, with faults while it runs, until it succeeds; returns how
    often it was started."""
    happened, most = 0, FEW_FAULTS if scene.small else MOST_FAULTS
    for starts in range(1, MOST_STARTS + 1):
        code, count = _run(scene, chance, faults if happened < most else [], *arguments)
        happened += count
        if code == 0:
            return starts
        scene.say(f"{arguments[0]} ended with {code}, starting it again")
    raise Stuck(f"{arguments[0]} did not get through in {MOST_STARTS} starts: {scene.log.read_text()[-2000:]}")


def _run(scene: Scene, chance: random.Random, faults: list[Fault], *arguments: object) -> tuple[int, int]:
    """One run of a command; its exit code, and how many faults happened to it."""
    deadline, happened = time.monotonic() + LONGEST_RUN, 0
    with _started(scene, *arguments) as process:
        while process.poll() is None:
            if time.monotonic() > deadline:
                raise Stuck(f"{arguments[0]} ran for {LONGEST_RUN:.0f} s: {scene.log.read_text()[-2000:]}")
            pause = chance.expovariate(2.0) if faults else 0.2
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(pause)
                continue
            if faults:
                fault = chance.choice(faults)
                _check_descriptors(process.pid, MOST_DESCRIPTORS + (OF_RAY if scene.machines is not None else 0))
                browsers = descendants(process.pid)  # a browser does not inherit the mark
                scene.processes = sorted({*marked(scene.token), *browsers})
                scene.count(fault.__name__)
                fault(scene, chance)
                happened += 1
    return process.returncode, happened


def _check_descriptors(server: int, most: int) -> None:
    """The server of a crawl does not keep the descriptors of clients and jobs that have ended."""
    with contextlib.suppress(OSError):
        kept = [str(each.readlink()) for each in Path(f"/proc/{server}/fd").iterdir()]
        assert len(kept) <= most, f"{len(kept)} descriptors are open: {sorted(kept)}"


@contextlib.contextmanager
def _started(scene: Scene, *arguments: object) -> Iterator["subprocess.Popen[bytes]"]:
    environment = scene.machines.environment if scene.machines is not None else os.environ
    environment = {**environment, MARK: scene.token, "SANDERLING_AHEAD": str(scene.clock_ahead)}
    with scene.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "sanderling", *map(str, arguments)],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        for pid in marked(scene.token) if process.poll() is None else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def marked(token: str) -> set[int]:
    """The processes that a scene has started, and all that those have started."""
    found = set()
    wanted = f"{MARK}={token}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
                    if state != b"Z":
                        found.add(int(entry.name))
    return found
