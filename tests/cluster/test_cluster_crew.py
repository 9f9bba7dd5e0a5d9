"""Which machines of a cluster get clients, with machines that only say what a test has them say."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sanderling import __version__
from sanderling.cluster.credentials import FOLDER, Revoked
from sanderling.cluster.crew import ClusterCrew
from sanderling.cluster.engine import HEAD_WAIT, ClusterNode, Gone, _sentence, other_versions
from sanderling.cluster.levels import Shape
from sanderling.cluster.messages import (
    CLUSTER_PROTOCOL,
    Ended,
    Greeting,
    MachineReply,
    Start,
    Word,
    decode_orders,
    encode,
)
from sanderling.errors import RunFailed
from sanderling.processes.crew import NO_ROOM
from tests.cluster.local_machine import switchboard_in
from tests.waiting import until

GREETING = Greeting(CLUSTER_PROTOCOL, __version__, "3.11.2", "/tmp")


class Spoken:
    """A machine of which a test says everything."""

    def __init__(self) -> None:
        self.clients: list[str] = []  # that it was told to start
        self._number = 0
        self._listener: Callable[[bytes | Gone], None] | None = None

    def tell(self, number: int, batch: bytes) -> None:
        self.clients += [order.client for order in decode_orders(batch) if isinstance(order, Start)]

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None:
        self._listener = on_reply

    def say(self, *words: Word) -> None:
        self._number += 1
        self._answer(encode(MachineReply(self._number, list(words))))

    def die(self) -> None:
        self._answer(Gone(certain=True, why="its process died"))

    def kill(self) -> None:
        pass

    def _answer(self, answer: bytes | Gone) -> None:
        until(lambda: self._listener is not None)
        listener, self._listener = self._listener, None
        assert listener is not None
        listener(answer)


class Machines:
    """An engine of such machines."""

    head = "127.0.0.1:1"
    silence = 0.0
    cut_off = False

    def __init__(self, *names: str) -> None:
        self.nodes = [ClusterNode(f"id-{name}", name, 2.0, here=False) for name in names]
        self.by_name: dict[str, Spoken] = {}

    def start(self, node: ClusterNode, terms: bytes) -> Spoken:
        self.by_name[node.name] = Spoken()
        return self.by_name[node.name]


class Crew:
    """A crew, its machines and what the user was told."""

    def __init__(self, folder: Path, shape: Shape, *names: str) -> None:
        self.machines, self.board, self.messages = Machines(*names), switchboard_in(folder), list[str]()
        self.crew = ClusterCrew(4, self.machines, self.board, shape)  # type: ignore[arg-type]
        self.crew.on_message = self.messages.append
        self.crew.fill()

    def close(self) -> None:
        self.board.close()

    def greet(self, **greetings: Greeting) -> None:
        for name, greeting in greetings.items():
            self.machines.by_name[name].say(greeting)
        until(lambda: self.turn() and all(link.seen for link in self.board.links))
        self.turn()

    def turn(self) -> bool:
        self.board.poll(0.01)
        self.crew.fill()
        return True

    def wanted(self) -> dict[str, int]:
        return {state.name: state.wanted for state in self.crew.machines}

    def notes(self) -> dict[str, str]:
        return {state.name: state.note for state in self.crew.machines if state.note}


@pytest.fixture
def crew_of(tmp_path: Path) -> Iterator[Callable[..., Crew]]:
    made: list[Crew] = []

    def make(shape: Shape, *names: str) -> Crew:
        made.append(Crew(tmp_path, shape, *names))
        return made[-1]

    yield make
    for crew in made:
        crew.close()


def test_machines_beyond_the_room_of_the_tree_are_named(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(levels=1, fan_out=2), "a", "b", "c", "d")
    room = "--levels 1 with --fan-out 2 leaves room for 2"
    assert crew.messages == [f"2 machines stay unused (c, …): {room}"]
    assert crew.notes() == {"c": f"unused: {room}", "d": f"unused: {room}"}
    assert not any(state.away for state in crew.crew.machines)
    crew.turn()
    assert len(crew.messages) == 1
    del crew.machines.nodes[2:]
    crew.turn()
    assert crew.notes() == {} and len(crew.messages) == 1


def test_a_machine_with_another_sanderling_gets_no_clients(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(), "good", "old", "odd")
    old = Greeting(CLUSTER_PROTOCOL, "0.0.1", "3.11.2", "/tmp")
    crew.greet(good=GREETING, old=old, odd=Greeting(CLUSTER_PROTOCOL + 1, __version__, "3.11.2", "/tmp"))
    why = f"old runs Sanderling 0.0.1, and the server {__version__}"
    assert f"{why}: it gets no clients" in crew.messages and crew.notes()["old"] == why
    why = (
        f"odd has another build of Sanderling {__version__} than the server (cluster protocol {CLUSTER_PROTOCOL + 1}, not "
        f"{CLUSTER_PROTOCOL}); install the same one"
    )
    assert f"{why}: it gets no clients" in crew.messages and crew.notes()["odd"] == why
    until(lambda: crew.turn() and len(crew.machines.by_name["good"].clients) == 4)
    assert crew.wanted()["good"] == 4
    assert not crew.machines.by_name["old"].clients and not crew.machines.by_name["odd"].clients


def test_a_machine_that_was_mended_and_joined_again_gets_clients(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(), "machine")
    crew.greet(machine=Greeting(CLUSTER_PROTOCOL, "0.0.1", "3.11.2", "/tmp"))
    crew.machines.nodes = [crew.machines.nodes[0]._replace(id="id-mended")]
    until(lambda: crew.turn() and [link.node.id for link in crew.board.links] == ["id-mended"])
    crew.greet(machine=GREETING)
    until(lambda: crew.turn() and len(crew.machines.by_name["machine"].clients) == 4)


def test_two_machines_of_one_name_are_revoked_together(
    crew_of: Callable[..., Crew], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    crew = crew_of(Shape(), "good", "twin")
    crew.machines.nodes.append(crew.machines.nodes[1]._replace(id="id-other"))
    crew.turn()
    assert [link.name for link in crew.board.links] == ["good", "twin", "twin-2"]
    Revoked().add("twin")
    crew.turn()
    assert {name: note for name, note in crew.notes().items() if note == "it was revoked"}.keys() == {"twin", "twin-2"}


def test_a_crawl_waits_for_its_head_for_a_while(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(), "machine")
    crew.machines.silence = HEAD_WAIT - 1
    crew.turn()
    crew.turn()
    crew.machines.silence = 0.0
    crew.turn()
    assert crew.messages == [
        "the head of the cluster does not answer; the crawl goes on without it for 300 s at most",
        "the head of the cluster answers again",
    ]
    crew.machines.silence = HEAD_WAIT + 1
    with pytest.raises(RunFailed, match="has not answered for 300 s; start it again"):
        crew.turn()


def test_a_full_spool_moves_the_clients_of_a_machine(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(), "full", "free")
    crew.greet(full=GREETING, free=GREETING)
    assert crew.wanted() == {"full": 2, "free": 2}
    until(lambda: crew.turn() and crew.machines.by_name["full"].clients)
    victim = crew.machines.by_name["full"].clients[0]
    crew.machines.by_name["full"].say(Ended(victim, NO_ROOM))
    until(lambda: crew.turn() and victim in crew.crew.exited())
    crew.crew.reap(victim)
    crew.turn()
    assert crew.wanted() == {"full": 0, "free": 4}
    said = "full has no disk space left for the spool"
    assert crew.messages == [f"{said}; it is tried again in 60 s"] and crew.notes() == {"full": said}


def test_the_machines_that_are_left_get_the_clients_of_those_that_died(crew_of: Callable[..., Crew]) -> None:
    crew = crew_of(Shape(), "a", "b", "c", "d")
    crew.greet(a=GREETING, b=GREETING, c=GREETING, d=GREETING)
    assert crew.wanted() == dict.fromkeys("abcd", 1)
    crew.machines.nodes = [node for node in crew.machines.nodes if node.name in "ab"]
    crew.machines.by_name["c"].die()
    crew.machines.by_name["d"].die()
    until(lambda: crew.turn() and len(crew.messages) == 2)
    assert sorted(crew.messages) == [f"{name} is lost: its process died; what it held goes to others" for name in "cd"]
    assert crew.wanted() == {"a": 2, "b": 2, "c": 0, "d": 0}


def test_other_versions_of_ray_and_python_are_told_in_one_sentence() -> None:
    from ray._private.utils import check_version_info, compute_version_info

    ray, python = compute_version_info()
    with pytest.raises(RuntimeError) as refused:
        check_version_info({"ray_version": "1.2.3", "python_version": "3.9.1"}, "node 10.0.0.2")
    sentence = f"runs Ray 1.2.3 and Python 3.9.1, and this machine Ray {ray} and Python {python}"
    assert other_versions(str(refused.value)) == f"{sentence}: install the same versions"
    assert sentence in _sentence("10.0.0.1:6380", refused.value, "")
    assert not other_versions("something else")


def test_a_crawl_without_machines_says_so_again_and_again(
    crew_of: Callable[..., Crew], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sanderling.cluster.crew.WAITING_EVERY", 0.05)
    crew = crew_of(Shape(), "a")
    crew.greet(a=GREETING)
    nodes, crew.machines.nodes = crew.machines.nodes, []
    crew.machines.by_name["a"].die()
    until(lambda: crew.turn() and sum("can be reached" in message for message in crew.messages) >= 3)
    crew.machines.nodes = [node._replace(id="id-again") for node in nodes]  # it joined again
    until(lambda: crew.turn() and "are back after" in crew.messages[-1])
