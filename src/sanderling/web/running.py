"""Makes and starts crawls. Each runs as a process in a session of its own, so that it can outlive
this server.

The user of the API may be another person than the owner of the server. So seeds that come from the
API must not lead to private addresses; this is checked now and again when they are fetched.
Settings that affect more than the crawl are refused.
"""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable
from typing import Literal

import msgspec

from sanderling import credentials
from sanderling.change.judging import fingerprinter
from sanderling.errors import BadSeed, BadSetting, FolderInUse, RunFailed, UsageError
from sanderling.files import PRIVATE, write_whole
from sanderling.model import Command, Live
from sanderling.network import is_public, names_private
from sanderling.processes import entry_points
from sanderling.repository.folder import EXAMPLES, TOPIC, Folder, in_use
from sanderling.server.frontier.scope import Scope, canonical_seed
from sanderling.server.requests import remote
from sanderling.server.requests.control import amend_file, checked
from sanderling.server.revisits.terms import read_budget
from sanderling.server.topic import topic
from sanderling.settings import ANY, DECLARED, Settings, dump, load, overlay
from sanderling.urls import hostname
from sanderling.web.problems import Conflict
from sanderling.web.shelf import Shelf

Mode = Literal["crawl", "again", "retry", "refresh", "watch"]
_FLAGS: dict[Mode, list[str]] = {"crawl": [], "again": ["--again"], "retry": ["--retry-failed"]}

# The output of the processes that this server started.
LOG = "sanderling.log"
MOST_SEEDS = 10_000
MOST_AT_ONCE = 16
# After this time a crawl counts as started, even if it does not answer yet.
START_SECONDS = 30.0
STOP_SECONDS = 10.0
# A page waits this long for all pages to be judged again.
JUDGE_SECONDS = 10.0

# The greatest values that a crawl from the API may have. Greater ones would exhaust the machine, or
# keep it busy with one silent host.
_MOST = {each.name: each.offered for each in DECLARED}
_MOST_ENTRIES = 1000  # of a list: each pattern is tried on every URL, each rule on every page
# Settings that a server with --allow-private also accepts.
_FURTHER = {"allow_private", "proxy"}


class Runner:
    """Makes crawls, and keeps the processes of those that this server started."""

    def __init__(self, shelf: Shelf, allow_private: bool = False, keep: bool = False, cluster: str = "") -> None:
        """With `keep`, crawls continue after the server ends. They run on a `cluster`, if there is
        one."""
        self._cluster = cluster
        self._shelf = shelf
        self.allow_private = allow_private
        self.kept = False  # a keeper visits watched pages, so nothing is started for them
        self._keep = keep
        self._guard = threading.Lock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def offered(self) -> list[str]:
        """The settings that can be chosen for a new crawl."""
        further = _FURTHER if self.allow_private else ()
        return [each.name for each in DECLARED if each.offered or each.name in further]

    def create(self, name: str, seeds: list[str], chosen: dict[str, object], examples: str = "") -> Folder:
        """Makes the folder of a new crawl. All inputs are checked before anything is made.

        `examples` of a topic are addresses, one a line, or a browser's bookmarks. The crawl learns
        from them when it starts. They may also be the contents of a model.
        """
        if not seeds or len(seeds) > MOST_SEEDS:
            raise BadSeed(f"give 1 to {MOST_SEEDS:,} seeds")
        starts = list(dict.fromkeys(canonical_seed(seed) for seed in seeds))
        for setting in chosen:
            if setting not in self.offered:
                raise BadSetting(f"{setting!r} cannot be set here")
        settings = overlay(Settings(private_seeds=self.allow_private), chosen)
        if credentials.is_reference(settings.proxy):  # it would read files and variables of the server
            raise BadSetting("proxy has to be an address here")
        _check_moderate(settings, chosen)
        settings = _with_topic(settings, chosen, examples)
        model = topic.uploaded(examples) if topic.is_model(examples) else None
        if examples and model is None and not self.allow_private:
            check_public(topic.example_urls(examples))
        Scope(starts, settings)
        fingerprinter(settings.rules)
        if not self.allow_private:
            check_public(starts)
        folder = self._shelf.room_for(name)
        with self._guard:
            try:
                folder.path.mkdir()
            except FileExistsError:
                raise Conflict(f"there is already a crawl {name!r}") from None
            if model is not None:
                topic.keep(model, folder)
            elif examples:
                topic.write_examples(folder, str(chosen.get("topic") or ""), examples)
            write_whole(folder.settings, dump(settings, tuple(starts)).encode(), mode=PRIVATE)
        return folder

    def start(self, folder: Folder, mode: Mode = "crawl", budget: str = "", forever: bool = False) -> None:
        """Starts or resumes a crawl, and waits until it runs or has failed. A refresh has a
        budget."""
        command = _command(folder, mode, budget, forever) + ([f"--cluster={self._cluster}"] if self._cluster else [])
        with self._guard:
            process = self._launch(folder, command)
            deadline = time.monotonic() + START_SECONDS
            while process.poll() is None and time.monotonic() < deadline:
                with contextlib.suppress(remote.NotRunning, RunFailed):
                    remote.look(folder.path, patience=1.0)
                    return
                time.sleep(0.02)
        if process.poll():
            why = last_line(folder) or f"the crawl ended with code {process.returncode}"
            if not folder.database.exists():  # it never started, so its name is free again
                (folder.path / LOG).unlink(missing_ok=True)
                folder.abandon()
            raise UsageError(why) if process.returncode == 2 else RunFailed(why)

    def watch(self, folder: Folder) -> None:
        """Visits the watched pages of a folder from now on, by its list as it is now."""
        if in_use(folder):
            with contextlib.suppress(remote.NotRunning, RunFailed):
                remote.command(folder.path, Command("stop"))
            deadline = time.monotonic() + STOP_SECONDS
            while in_use(folder) and time.monotonic() < deadline:
                time.sleep(0.05)
        self.start(folder, "watch")

    def judge(self, folder: Folder) -> None:
        """Starts to judge all pages of a crawl by its model; waits a little, since most crawls are
        small."""
        if not folder.topic.exists():
            raise UsageError("this crawl has no topic: start it with one")
        with self._guard:
            process = self._launch(folder, ["topic", str(folder.path), "--judge"])
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process.wait(JUDGE_SECONDS):
                raise RunFailed(last_line(folder) or f"it ended with code {process.returncode}")

    def _launch(self, folder: Folder, command: list[str]) -> "subprocess.Popen[bytes]":
        """Runs a command in a folder that is not in use."""
        if in_use(folder):
            raise FolderInUse(f"{folder.path.name} is already being crawled")
        self._forget_ended()
        if len(self._processes) >= MOST_AT_ONCE:
            raise Conflict(f"{MOST_AT_ONCE} crawls are already running; stop one of them first")
        with (folder.path / LOG).open("ab") as log:
            process = subprocess.Popen(
                entry_points.command("command", *command),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._processes[str(folder.path)] = process
        return process

    def tidy(self) -> None:
        """Forgets the processes that have ended."""
        with self._guard:
            self._forget_ended()

    def close(self) -> None:
        """Ends the crawls that this server started, unless `keep` was set."""
        self.tidy()
        if self._keep:
            return
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for process in self._processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))

    def _forget_ended(self) -> None:
        self._processes = {path: each for path, each in self._processes.items() if each.poll() is None}


def _with_topic(settings: Settings, chosen: dict[str, object], examples: str) -> Settings:
    """A topic in words or examples. Files are no business of those who use the API."""
    if settings.topic and ("/" in settings.topic or settings.topic.startswith("sanderling.")):
        raise BadSetting("topic takes words here; give examples as addresses")
    if topic.is_model(examples):
        if settings.topic:
            raise BadSetting("a model has its topic: leave the words out")
        settings = msgspec.structs.replace(settings, topic=TOPIC)
    elif examples:
        topic.example_urls(examples)
        settings = msgspec.structs.replace(settings, topic=EXAMPLES)
    if settings.topic and "order" not in chosen:
        settings = msgspec.structs.replace(settings, order="topic")
    return settings


def _check_moderate(settings: Settings, chosen: Iterable[str]) -> None:
    """Refuses values that are fine for the owner of a machine, but not for everyone who may use the
    API."""
    for name in chosen:
        value = getattr(settings, name)
        if isinstance(value, tuple) and len(value) > _MOST_ENTRIES:
            raise BadSetting(f"{name} has {len(value):,} entries; this server allows at most {_MOST_ENTRIES:,}")
        if isinstance(value, int | float) and value > (_MOST[name] or ANY):
            raise BadSetting(f"{name} = {value:,} is too much; this server allows at most {_MOST[name]:,}")


def _command(folder: Folder, mode: Mode, budget: str, forever: bool) -> list[str]:
    if mode == "watch":
        return ["watch", "run", "-d", str(folder.path)]
    if mode != "refresh":
        return ["crawl", "-d", str(folder.path), *_FLAGS[mode]]
    if budget:
        read_budget(budget)
    return ["refresh", str(folder.path), *([f"--budget={budget}"] if budget else []), *["--forever"] * forever]


def change(folder: Folder, changes: dict[str, object]) -> Live | None:
    """Changes limits, scope or order: at once if the crawl runs, else for its next run."""
    kept = load(folder.settings)[0] if folder.settings.exists() else Settings()
    _check_moderate(checked(kept, changes), changes)
    if in_use(folder):
        with contextlib.suppress(remote.NotRunning):
            return remote.command(folder.path, Command("change", changes))
    amend_file(folder.settings, changes)
    return None


def last_line(folder: Folder) -> str:
    """The last output line of a crawl that this server started."""
    try:
        with (folder.path / LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
            lines = log.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return ""
    output = [line.strip() for line in lines if line.strip()]
    return output[-1].removeprefix("sanderling: ") if output else ""


def check_public(urls: list[str], must_exist: bool = True) -> None:
    """Refuses URLs at private addresses. A name may lead elsewhere later, so the crawl checks
    again at each fetch."""
    for name in dict.fromkeys(hostname(url) for url in urls):
        refused = BadSeed(f"{name!r} is at a private address; `sanderling serve --allow-private` allows it")
        if names_private(name):
            raise refused
        try:
            found = socket.getaddrinfo(name.strip("[]"), None, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN or not must_exist:
                continue
            raise BadSeed(f"{name!r} cannot be reached: the host name cannot be resolved") from None
        except UnicodeError:
            if not must_exist:
                continue
            raise BadSeed(f"{name!r} cannot be reached: it is not a valid host name") from None
        if not all(is_public(str(each[4][0])) for each in found):
            raise refused
