"""What happens when a process of a node dies, with processes that only have an exit code."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli.cluster import _TRIES, MOST_TRIES, _tried
from sanderling.cluster.node import StartedTooSlowly
from sanderling.cluster.upkeep import HeadState, LeftCluster, Upkeep
from sanderling.errors import RunFailed


class Process:
    def __init__(self) -> None:
        self.code: int | None = None
        self.process = self  # Ray wraps processes

    def poll(self) -> int | None:
        return self.code


class Node:
    """Ray's view of a node, as far as it is used."""

    def __init__(self) -> None:
        self.all_processes = {"gcs_server": [Process()], "raylet": [Process()], "dashboard": [Process()]}
        self._gcs_address: str | None = "there"
        self._gcs_client: object | None = object()
        self.ended = False

    def start_gcs_server(self) -> None:
        assert self._gcs_address is None and self._gcs_client is None and "gcs_server" not in self.all_processes
        self.all_processes["gcs_server"] = [Process()]
        self._gcs_address = "there"

    def kill_all_processes(self, check_alive: bool) -> None:
        assert not check_alive
        self.ended = True

    def get_logs_dir_path(self) -> str:
        return "/logs"

    def kill(self, kind: str, code: int) -> None:
        self.all_processes[kind][0].code = code


@pytest.fixture
def address() -> Iterator[str]:
    """Where somebody listens, as a head does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_a_head_is_started_again_a_few_times(tmp_path: Path, address: str) -> None:
    said: list[str] = []
    node, upkeep = Node(), Upkeep(address, HeadState(tmp_path / "head", 60.0), said.append)
    for number in range(3):
        node.kill("gcs_server", -9)
        assert upkeep.look(node) == [] and len(said) == number
        assert upkeep.look(node) == []
    assert said == ["the head of the cluster was ended by signal 9, and was started again\n"] * 3
    node.kill("gcs_server", 1)
    with pytest.raises(RunFailed, match="ended with code 1, and 3 times before within 60 s; its log is in /logs"):
        upkeep.look(node)


def test_a_process_that_does_not_matter_may_end(tmp_path: Path, address: str) -> None:
    node = Node()
    node.kill("dashboard", 1)
    assert Upkeep(address, HeadState(tmp_path / "head", 60.0), pytest.fail).look(node) == []


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (-9, "this machine left the cluster: its node was ended by signal 9; run the command again to return"),
        (-6, "this machine was out of reach for longer than --outage, or its node failed"),
        (1, "this machine was out of reach for longer than --outage, or its node failed"),
    ],
)
def test_a_machine_says_why_it_left(address: str, code: int, why: str) -> None:
    """What is left of a node is ended before the machine joins again."""
    node = Node()
    node.kill("raylet", code)
    with pytest.raises(RunFailed, match=why) as raised:
        Upkeep(address, None, pytest.fail).look(node)
    assert isinstance(raised.value, LeftCluster) == node.ended == (code != -9)


def test_a_machine_says_that_its_head_is_gone() -> None:
    node = Node()
    node.kill("raylet", 1)
    with pytest.raises(RunFailed, match=r"its head at 127\.0\.0\.1:1 does not answer"):
        Upkeep("127.0.0.1:1", None, pytest.fail).look(node)


def test_the_state_of_a_head_that_nobody_waits_for_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "head"
    HeadState(folder, 60.0).note_running()
    (folder / "kept").touch()
    assert HeadState(folder, 60.0).environment["RAY_gcs_storage_path"] == str(folder)
    assert (folder / "kept").exists()
    os.utime(folder / "seen", (time.time() - 100,) * 2)
    HeadState(folder, 60.0)
    assert list(folder.iterdir()) == []


def test_a_node_that_took_too_long_to_start_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda program, command: started.append(command))
    monkeypatch.setattr("atexit._run_exitfuncs", lambda: None)
    monkeypatch.setenv(_TRIES, "1")

    def slow() -> int:
        raise StartedTooSlowly("it timed out")

    for tries in range(1, MOST_TRIES):
        _tried(slow)
        assert len(started) == tries and os.environ[_TRIES] == str(tries + 1)
    with pytest.raises(StartedTooSlowly):
        _tried(slow)
