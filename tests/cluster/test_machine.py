"""A machine of a cluster and the server's side of it, without an engine between them."""

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sanderling.cluster.credentials import FOLDER, Revoked
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import Ended, MachineTerms, Start, encode
from sanderling.cluster.numbering import InOrder, Unacknowledged
from sanderling.cluster.placement import placed
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import Hello, Welcome
from sanderling.processes.crew import new_name
from tests.cluster.local_machine import HERE, LocalMachine, switchboard_in
from tests.waiting import until


@contextmanager
def connected(folder: Path, fence: float, patience: float) -> Iterator[tuple[LocalMachine, ClusterSwitchboard]]:
    with (
        closing(LocalMachine(MachineTerms(fence))) as machine,
        closing(switchboard_in(folder)) as switchboard,
    ):
        switchboard.open(HERE, machine, Waits(patience))
        yield machine, switchboard


def test_a_machine_that_is_cut_off_ends_its_clients_before_its_leases_are_given_away(tmp_path: Path) -> None:
    with connected(tmp_path, fence=6.0, patience=20.0) as (machine, switchboard):
        (link,) = switchboard.links
        link.start(client := new_name(), "here/0")
        ((line, hello),) = until(lambda: switchboard.poll(0.1)[0])
        assert isinstance(hello, Hello)
        switchboard.send(line, Welcome(b"{}"))
        until(lambda: switchboard.poll(0.1)[0])  # it reports
        process = machine.machine._processes[client]
        machine.cut = True
        lost = until(lambda: switchboard.poll(0.1)[1])
        assert lost == [line]
        assert process.returncode is not None
        assert not switchboard.links


def test_the_page_that_a_client_was_parsing_is_known_when_it_died(tmp_path: Path) -> None:
    with connected(tmp_path, fence=60.0, patience=60.0) as (machine, switchboard):
        (link,) = switchboard.links
        link.start(client := new_name(), "here/0")
        ((line, _),) = until(lambda: switchboard.poll(0.1)[0])
        (machine.machine._spool.folder / f"marker-{client}").write_bytes((77).to_bytes(8, "little"))
        link.end(client)
        assert until(lambda: switchboard.poll(0.1)[1]) == [line]
        assert switchboard.ended[client] == Ended(client, -9, 77)


def test_a_client_that_cannot_begin_is_said_to_be_dead(tmp_path: Path) -> None:
    with connected(tmp_path, fence=60.0, patience=60.0) as (machine, switchboard):
        machine.machine._spool._new.rmdir()
        (link,) = switchboard.links
        link.start(client := new_name(), "here/0")
        ((line, _),) = until(lambda: switchboard.poll(0.1)[0])
        switchboard.send(line, Welcome(b"no settings"))
        until(lambda: switchboard.poll(0.1)[1])
        assert switchboard.ended[client].code == 1


def test_nothing_is_taken_from_a_revoked_machine(tmp_path: Path) -> None:
    """Its leases return only when it must have ended its clients by itself."""
    with connected(tmp_path, fence=3.0, patience=5.0) as (_, switchboard):  # an idle machine is confirmed every second
        (link,) = switchboard.links
        link.start(new_name(), "here/0")
        ((line, _),) = until(lambda: switchboard.poll(0.1)[0])
        link.mute("it was revoked")
        switchboard.send(line, Welcome(b"{}"))
        told: list[object] = []
        while not (lost := (polled := switchboard.poll(0.1))[1]):
            told += polled[0]
        assert (lost, told) == ([line], [])


def test_revoked_machines_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    revoked = Revoked()
    assert revoked.names == frozenset()
    revoked.add("one")
    assert Revoked().names == {"one"} and (tmp_path / "revoked").stat().st_mode & 0o077 == 0
    revoked.remove("one")
    assert Revoked().names == frozenset()


# ---- numbers


def test_batches_are_given_once_and_in_order() -> None:
    chance = random.Random(1)
    for _ in range(50):
        calls = [number for number in range(1, 20) for _ in range(chance.randint(1, 3))]
        chance.shuffle(calls)
        orders = InOrder()
        given = [batch for number in calls for batch in orders.take(number, b"%d" % number)]
        assert given == [b"%d" % number for number in range(1, 20)]


def test_a_reply_that_was_lost_is_the_same_again() -> None:
    replies = Unacknowledged()
    assert replies.after(0) is None
    replies.add(b"one")
    assert (replies.after(0), replies.after(0)) == (b"one", b"one")
    sent = replies._replies[0].at
    replies.acknowledge(1)
    assert replies.after(1) is None and replies.after(0) is None
    assert replies.confirmed_at == sent  # not later, however late the acknowledgement came


# ---- placement


def test_clients_are_placed_by_weight() -> None:
    assert placed({"a": 4, "b": 2}, 6) == {"a": 4, "b": 2}
    assert placed({"a": 1, "b": 1, "c": 1}, 4) == {"a": 2, "b": 1, "c": 1}
    assert placed({"a": 1, "b": 0}, 3) == {"a": 3, "b": 0}
    assert placed({}, 3) == {}
    assert placed({"a": 0.0}, 3) == {"a": 0}


@pytest.mark.parametrize("wanted", [1, 7, 64])
def test_all_clients_are_placed(wanted: int) -> None:
    weights = {str(number): number % 5 + 0.5 for number in range(9)}
    found = placed(weights, wanted)
    assert sum(found.values()) == wanted
    assert all(abs(found[name] - wanted * weight / sum(weights.values())) < 1 for name, weight in weights.items())


def test_orders_are_small() -> None:
    assert len(encode([Start("0" * 12)])) < 50
