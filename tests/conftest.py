"""What the tests share: the command as a user runs it, and the truth about a crawl folder."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from sanderling.testing import ServedWeb, SyntheticWeb
from sanderling.testing.postgres import PostgresMissing, PostgresServer
from tests.forking import suits
from tests.ready import BesideTest, ready
from tests.search_library import Library
from tests.unsteady import pytest_configure, pytest_xdist_make_scheduler
from tests.web.served import Served, running

__all__ = ["pytest_configure", "pytest_xdist_make_scheduler"]

FAST = ("--per-host", "8", "--delay", "0")
# If a web holds its answers back, only the crawl itself can end a request.
PATIENT = ("--first-byte-timeout", "1h", "--fetch-timeout", "1h", "--low-speed-time", "1h")
# Some commands fetch 1,500 pages one after the other. A command that hangs is ended before its
# test, so that its output is shown.
WHOLE_RUN = 300.0

# A shell that runs the tests in the background may make them ignore Ctrl-C, and child processes
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, and no failure because of a busy machine.
hypothesis.settings.register_profile(
    "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


# Each of these files takes about ten seconds of a processor or more. The longest come first.
LONG = (
    "test_cluster.py", "test_light_field.py", "test_journey.py", "test_docs.py", "test_refresh.py", "test_postgres.py",
    "test_states.py", "test_bounds.py", "test_kill.py", "test_torture.py", "test_mirrors.py", "test_quality.py",
    "test_watching.py", "test_crawl.py", "test_keeping.py", "test_again.py", "test_trap_web.py", "test_freshness_lab.py",
    "test_bad_input.py", "test_topic.py", "test_control.py", "test_login.py", "test_foreign.py", "test_forms.py",
    "test_web_running.py", "test_name_outage.py", "test_no_network.py", "test_extractors.py", "test_doors.py",
    "test_private_addresses.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin first, then files with many tests: beside each other they end at about the
    same time."""
    sizes = Counter(item.path for item in items)
    turn = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: (turn.get(item.path.name, len(LONG)), -sizes[item.path]))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sanderling", *map(str, arguments)]


@contextlib.contextmanager
def started(*arguments: object, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A command that runs beside the test in a session of its own. It is always ended with the
    test."""
    changed = {name for name, value in (options.get("env") or {}).items() if os.environ.get(name) != value}
    if "--cluster" in arguments or arguments[0] == "cluster" or not suits(dict.fromkeys(changed, "")):
        process = subprocess.Popen(command(*arguments), text=True, start_new_session=True, **options)
    else:
        process = BesideTest(*arguments, start_new_session=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def said(errors: str) -> list[str]:
    """The lines on standard error, without the progress lines of longer crawls."""
    return [line for line in errors.splitlines() if not re.match(r"[\d,]+ pages? · .* failed or gone", line)]


class Ran:
    """A command that has ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def sanderling() -> Iterator[Run]:
    """Runs the command in a process of its own. A traceback fails the test, unless `crashes` is
    set."""

    def run(*arguments: object, env: dict[str, str] | None = None, crashes: bool = False) -> Ran:
        surroundings = {**os.environ, **(env or {})}
        if suits(env or {}):
            done = ready().run([str(each) for each in arguments], surroundings, WHOLE_RUN)
        else:
            done = subprocess.run(
                command(*arguments), capture_output=True, text=True, timeout=WHOLE_RUN, env=surroundings
            )
        assert crashes or "Traceback" not in done.stderr, done.stderr
        return Ran(done)

    yield run
    ready().close()


@pytest.fixture
def web() -> Iterator[ServedWeb]:
    """A small synthetic web on one host."""
    with SyntheticWeb(hosts=1, pages=120, seed=5).serve() as site:
        yield site


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests."""
    try:
        server = PostgresServer().__enter__()
    except PostgresMissing as error:
        pytest.skip(str(error))
    with contextlib.closing(server):
        yield server


@pytest.fixture(params=["folder", "postgresql"])
def kept_in(request: pytest.FixtureRequest) -> list[object]:
    """Arguments for a crawl with its state in the folder, then for one with its state in a
    database."""
    return [] if request.param == "folder" else ["--store", request.getfixturevalue("postgres").dsn]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A crawl folder with pages that a test defines."""
    with contextlib.closing(Library(tmp_path / "crawl")) as made:
        yield made


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Path:
    """A directory with one crawl folder, `small`. Tests only read it."""
    home = tmp_path_factory.mktemp("shelf")
    with SyntheticWeb(hosts=1, pages=40, seed=5).serve() as site:
        assert sanderling("crawl", site.url, "-d", home / "small", *FAST).code == 0
    return home


@pytest.fixture(scope="session")
def served(crawled: Path) -> Iterator[Served]:
    """One server on loopback, without a password, for all tests that only read."""
    with running(crawled) as server:
        yield server


def stored_urls(folder: Path) -> list[str]:
    """The URL of every page in the WARC files of a crawl, as an independent reader sees them."""
    from warcio.archiveiterator import ArchiveIterator

    urls: dict[str, str] = {}
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                content, fields = record.content_stream().read(), record.rec_headers
                status = int(record.http_headers.get_statuscode()) if record.rec_type == "response" else 500
                if status < 500 and status not in (408, 429):
                    urls[fields.get_header("WARC-Record-ID")] = fields.get_header("WARC-Target-URI")
                elif record.rec_type == "metadata" and b"purpose:" in content:
                    urls.pop(fields.get_header("WARC-Concurrent-To"), None)
    return list(urls.values())


def listed(sanderling: Run, folder: Path, *more: str) -> dict[str, dict[str, Any]]:
    """The rows of `sanderling pages`, by path."""
    rows = sanderling("pages", folder, "--json", *more).lines
    return {"/" + row["url"].split("/", 3)[3]: row for row in rows}
