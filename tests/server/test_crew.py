"""The client processes of a server."""

import socket
from pathlib import Path

from sanderling.server.crew import Crew


def test_a_member_that_never_came_to_work_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()  # and nobody answers it
        crew = Crew(2, tmp_path / "s")
        crew.fill()
        members = list(crew._members.values())
        crew.disband(patience=3600.0, at_work=())
    assert [member.returncode for member in members] == [-9, -9]
