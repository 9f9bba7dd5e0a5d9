"""What the trial needs of an application, and how its processes are run."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable
from urllib.request import urlopen

from bench.places import CACHE, BenchError

FIELD = CACHE / "field"
# Seconds that an application may take to answer for the first time.
PATIENCE = 60


@dataclass(frozen=True)
class Site:
    """Where an application runs, and the folder of all its state."""

    place: Path
    port: int
    small: bool = False  # with little content, for tests

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@dataclass(frozen=True)
class Item:
    """One true page: any of its URLs shows it. The word stands nowhere but in its text."""

    urls: tuple[str, ...]
    word: str = ""


@dataclass(frozen=True)
class Edits:
    """What an edit did. Nothing else on the site is news, but lists may repeat it."""

    changed: Sequence[Item] = ()
    new: Sequence[Item] = ()
    gone: Sequence[Item] = ()


@dataclass(frozen=True)
class Manners:
    """How an application differs from others for a crawler."""

    seed: str = ""  # below the root
    lists: str = "^$"  # paths that are no true pages but lead to them, as a regular expression
    options: Sequence[str] = ()  # of every crawl
    forms: Sequence[str] = field(default=("--forms", "search", "--follow-nofollow"))  # of the crawl for hidden pages


class Application(Protocol):
    MANNERS: Manners

    def install(self) -> None:
        """Installs its packages."""

    def fill(self, site: Site) -> None:
        """Makes it in the empty folder of the site, with known content."""

    def start(self, site: Site) -> Sequence[subprocess.Popen[bytes]]: ...

    def truth(self, site: Site) -> list[Item]:
        """The pages that links lead to."""

    def edit(self, site: Site) -> Edits:
        """Edits a few pages while it runs."""


@runtime_checkable
class Hiding(Protocol):
    """An application with a search form can hide pages from every link."""

    def hide(self, site: Site) -> list[Item]:
        """Adds pages that only its search finds, before it is started."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def fresh(name: str, port: int = 0, within: Path = FIELD, small: bool = False) -> Site:
    """An empty folder for an application."""
    place = within / name / "site"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return Site(place, port or free_port(), small)


def spawn(
    site: Site, *command: object, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """A process of an application, in a group of its own. What it says goes to a file in its
    folder."""
    with Path(site.place, "log").open("ab") as log:
        return subprocess.Popen(
            [str(each) for each in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=cwd or site.place,
            start_new_session=True,
        )


def stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends processes with all that they started: the workers of PHP outlive their parent."""
    for process in reversed(processes):
        _signal(process, signal.SIGTERM)
    for process in reversed(processes):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """To the whole group of a process, which `spawn` made."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def running(application: Application, site: Site) -> Iterator[str]:
    """The URL at which a crawl begins, while the application runs."""
    processes = application.start(site)
    url = site.url + application.MANNERS.seed
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(url):
            if time.monotonic() > deadline or any(each.poll() is not None for each in processes):
                raise BenchError(f"{application.__name__} does not answer: see {site.place}/log")  # type: ignore[attr-defined]
            time.sleep(0.1)
        yield url
    finally:
        stop(processes)


def _answers(url: str) -> bool:
    with contextlib.suppress(OSError), urlopen(url, timeout=20):
        return True
    return False
