"""Two machines that are cut off and come back: network namespaces with a cluster of Sanderling."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sanderling.processes.entry_points import command
from tests.waiting import PATIENCE, until

_NET = "10.79.0"
_HOME = f"{_NET}.1"
_PORT = 6391
_LOST = "8s"  # a machine is given up after so long without a word


class Machines:
    """The machines of one round. The server, the web and the database are on this machine, whose
    line is never cut."""

    address = _HOME
    crawl = ("--cluster", f"{_HOME}:{_PORT}", "--cluster-patience", _LOST, "--delay", "20ms")

    def __init__(self, place: Path, undo: contextlib.ExitStack) -> None:
        self._names = [f"torture{os.getpid()}{letter}" for letter in "ab"]
        for number, name in enumerate(self._names):
            _must("ip", "netns", "add", name)
            undo.callback(_may, "ip", "netns", "del", name)
            _must("ip", "link", "add", f"tt{number}", "type", "veth", "peer", "name", "wan0", "netns", name)
            _must("ip", "-n", name, "addr", "add", f"{_NET}.{number + 2}/32", "dev", "wan0")
            _must("ip", "-n", name, "link", "set", "wan0", "up")
            _must("ip", "-n", name, "link", "set", "lo", "up")
            _must("ip", "-n", name, "route", "add", "default", "dev", "wan0", "src", f"{_NET}.{number + 2}")
            _must("ip", "addr", "add", f"{_HOME}/32", "dev", f"tt{number}")
            self.mend(number)
        self.environment = {**os.environ, "SANDERLING_CLUSTER": str(place / "cluster")}
        self._run(undo, place, [], "init")
        self._run(undo, place, [], "start", "--own", _HOME, "--port", _PORT, "--weight", 0, "--name", "head")
        for number, name in enumerate(self._names):
            own = place / f"cluster-{number}"
            shutil.copytree(place / "cluster", own)
            self._run(
                undo, place, ["ip", "netns", "exec", name], "join", f"{_HOME}:{_PORT}", "--own", f"{_NET}.{number + 2}",
                "--name", name, "--weight", 2, SANDERLING_CLUSTER=str(own),
            )  # fmt: skip

    @property
    def count(self) -> int:
        return len(self._names)

    def cut(self, number: int) -> None:
        _must("ip", "link", "set", f"tt{number}", "down")

    def mend(self, number: int) -> None:
        _must("ip", "link", "set", f"tt{number}", "up")
        _must("ip", "route", "replace", f"{_NET}.{number + 2}/32", "dev", f"tt{number}", "src", _HOME)

    def _run(
        self, undo: contextlib.ExitStack, place: Path, inside: list[str], *words: object, **environment: str
    ) -> None:
        """Starts a command of a cluster, and waits until it has said that it runs."""
        said = place / f"said-{words[0]}-{len(list(place.glob('said-*')))}"
        with said.open("wb") as log:
            process = subprocess.Popen(
                [*inside, *command("command", "cluster", *words)], env=self.environment | environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        undo.callback(_end, process)
        if words[0] == "init":
            assert process.wait(PATIENCE) == 0, said.read_text()
        else:
            until(lambda: "until this command is stopped" in said.read_text() or process.poll() is not None)
            assert process.poll() is None, said.read_text()


def possible() -> bool:
    """Whether namespaces can be linked here, and no other run has done so."""
    name = f"torture{os.getpid()}"
    if shutil.which("ip") is None or not _may("ip", "netns", "add", name):
        return False
    linked = _may("ip", "link", "add", "tt0", "type", "veth", "peer", "name", "wan0", "netns", name)
    _may("ip", "netns", "del", name)
    return linked


@contextlib.contextmanager
def machines(place: Path) -> Iterator[Machines]:
    with contextlib.ExitStack() as undo:
        yield Machines(place, undo)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for end in (process.terminate, process.kill):
        end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
            return


def _may(*arguments: str) -> bool:
    return subprocess.run(arguments, capture_output=True).returncode == 0


def _must(*arguments: str) -> None:
    subprocess.run(arguments, check=True, capture_output=True)
