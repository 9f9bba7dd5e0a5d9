"""How many clients are wanted follows from the work, within the range that the user gave."""

import pytest

from sanderling.errors import BadSetting
from sanderling.server.members import sizing
from sanderling.server.members.sizing import Sizing, needed
from sanderling.settings import Settings, overlay


class Notes:
    """The part of a store that keeps notes."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def note(self, key: str, value: str) -> None:
        self.kept[key] = value

    def noted(self, key: str) -> str:
        return self.kept.get(key, "")


@pytest.mark.parametrize(
    ("waiting", "allowed", "of_one", "clients"),
    [
        (0, 1000.0, 50.0, 0),
        (10, 1000.0, 50.0, 1),  # little waits
        (100_000, 5.0, 50.0, 1),  # one polite host
        (100_000, 400.0, 100.0, 4),  # hosts allow what four clients do
        (100_000, 1e9, 200.0, 50),  # no pauses: what waits is done within ten seconds
    ],
)
def test_the_need_follows_from_queue_hosts_and_pace(waiting: int, allowed: float, of_one: float, clients: int) -> None:
    assert needed(waiting, allowed, of_one) == clients


def test_more_are_wanted_at_once_and_fewer_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    size = Sizing(1, 8, notes)  # type: ignore[arg-type]
    assert size.size == 1
    assert size.step(100_000, 500, 1e6, 100.0) == 8
    assert size.step(0, 0, 0.0, 100.0) == 8
    monkeypatch.setattr(sizing, "PATIENCE", -1.0)
    assert size.step(0, 0, 0.0, 100.0) == 1
    assert size.step(3000, 40, 300.0, 100.0) == 3
    assert size.why == "3 of 1..8: 3,000 wait on 40 hosts, which allow 300 pages/s; a client does 100/s"
    assert Sizing(1, 8, notes).size == 3  # type: ignore[arg-type]  # the next run begins with that
    assert Sizing(1, 2, notes).size == 2  # type: ignore[arg-type]


def test_a_restart_knows_what_a_client_did_in_earlier_runs() -> None:
    notes = Notes()
    assert Sizing(1, 50, notes).step(100_000, 500, 1000.0, 0.0) == 50  # type: ignore[arg-type]  # nothing is known
    assert Sizing(1, 50, notes).step(100_000, 500, 1000.0, 200.0) == 50  # type: ignore[arg-type]  # fewer only later
    notes.kept.pop(sizing.NOTED)
    assert Sizing(1, 50, notes).step(100_000, 500, 1000.0, 0.0) == 5  # type: ignore[arg-type]


def test_a_range_is_two_settings() -> None:
    found = overlay(Settings(), {"clients": "2..8"})
    assert (found.min_clients, found.clients) == (2, 8)
    for wrong in ("8..2", "..4", "2..", "0..3", "a..b", "2...8"):
        with pytest.raises(BadSetting, match="range"):
            overlay(Settings(), {"clients": wrong})
