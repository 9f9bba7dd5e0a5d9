"""Client processes that end are replaced, unless that is useless. Idle clients are not waited
for."""

import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.errors import DiskFull, RunFailed
from sanderling.processes import crew as room
from sanderling.processes.crew import HOPELESS, NO_ROOM, UNWRITABLE, LocalCrew
from sanderling.processes.entry_points import command
from tests.waiting import until


class Doomed(LocalCrew):
    """For clients that find no server."""

    def close(self) -> None:
        self.disband(0.0, at_work=set())

    def bury_all(self) -> None:
        self.fill()
        for name in list(self._members):
            self.reap(name)


def lonely(place: Path) -> Callable[[str], list[str]]:
    """Starts clients of a server at `place`, which may never answer."""
    return lambda name: command("client", name, place, place.parent, place.parent / name)


def test_clients_that_all_end_at_once_end_the_crawl(tmp_path: Path) -> None:
    with (
        closing(Doomed(HOPELESS, lonely(tmp_path / "socket"), tmp_path)) as crew,
        pytest.raises(RunFailed, match="in a row ended at once"),
    ):
        crew.bury_all()


@pytest.mark.parametrize(("code", "said"), [(NO_ROOM, "no room left"), (UNWRITABLE, "look after the disk")])
def test_a_client_that_cannot_write_its_archive_ends_the_crawl_with_one_sentence(
    tmp_path: Path, code: int, said: str
) -> None:
    with closing(Doomed(1, lambda name: ["sh", "-c", f"exit {code}"], tmp_path)) as crew:
        crew.fill()
        [(name, member)] = crew._members.items()
        until(lambda: member.code is not None)
        with pytest.raises(DiskFull, match=said):
            crew.reap(name)


def test_many_clients_that_hang_together_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-Z: no client has sent a message for a while."""
    monkeypatch.setattr(room, "AT_ONCE", 0.0)
    with closing(Doomed(HOPELESS, lonely(tmp_path / "socket"), tmp_path)) as crew:
        crew.bury_all()
        assert crew.replaced == HOPELESS


def test_a_member_that_never_came_to_work_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()  # and there is no server
        crew = LocalCrew(2, lonely(tmp_path / "s"), tmp_path)
        crew.fill()
        members = list(crew._members.values())
        crew.disband(patience=3600.0, at_work=set())
    assert [member.code for member in members] == [-9, -9]
