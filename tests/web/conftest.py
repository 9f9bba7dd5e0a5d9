"""A server as a user starts it, and a folder with a small crawl in it."""

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sanderling.testing import SyntheticWeb
from tests.conftest import FAST, Ran, command


class Served:
    """A running `sanderling serve`."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, said: str) -> None:
        self.process, self.url, self.said = process, url, said
        self.http = httpx.Client(base_url=url, timeout=30)

    def stop(self) -> str:
        """Ends it as Ctrl-C does; returns what it said on standard error."""
        self.http.close()
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, errors
        return errors


@contextmanager
def running(*arguments: object) -> Iterator[Served]:
    process = subprocess.Popen(
        command("serve", *arguments, "--port", 0, "--archive-port", 0),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://[^/ ]+", said)
        assert found, said + process.communicate(timeout=20)[1]
        served = Served(process, found[0], said)
        yield served
        if process.poll() is None:
            assert "Traceback" not in served.stop()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory, sanderling: Callable[..., Ran]) -> Path:
    """A directory with one crawl folder, `small`, in it; for reading only."""
    home = tmp_path_factory.mktemp("shelf")
    with SyntheticWeb(hosts=1, pages=40, seed=5).serve() as site:
        assert sanderling("crawl", site.url, "-d", home / "small", *FAST).code == 0
    return home


@pytest.fixture(scope="session")
def served(crawled: Path) -> Iterator[Served]:
    """One open server on loopback for all tests that only read."""
    with running(crawled) as server:
        yield server
