"""Hosts go to machines that are near to them, by times that clients measured."""

import pytest

from sanderling.model import Host, HostNote
from sanderling.server.frontier.allocator import Allocator, owner
from sanderling.server.frontier.proximity import machine_of, near_to, places_near
from sanderling.settings import Settings
from tests.server.test_allocator import Queue, leased

MACHINES = ("east", "west", "south")
PLACES = [f"{machine}/{number}" for machine in MACHINES for number in range(2)]


@pytest.mark.parametrize(
    ("seconds", "waiting", "near"),
    [
        ({}, 999, {"east", "west", "south"}),  # nothing is known
        ({"east": 0.001}, 999, {"east"}),  # near enough: nobody else has to try
        ({"east": 0.2}, 999, {"west", "south"}),  # far: the others try
        ({"east": 0.2}, 3, {"east"}),  # too little to do for a trial
        ({"east": 0.2, "west": 0.05}, 999, {"south"}),
        ({"east": 0.2, "west": 0.05, "south": 0.06}, 999, {"west", "south"}),
        ({"east": 0.2, "west": 0.05, "south": 0.2}, 999, {"west"}),
        ({"east": 0.2, "west": 0.21, "south": 0.22}, 999, {"east", "west", "south"}),  # all alike
        ({"gone": 0.001, "east": 0.2}, 3, {"east"}),
    ],
)
def test_who_is_near(seconds: dict[str, float], waiting: int, near: set[str]) -> None:
    assert near_to(MACHINES, seconds, waiting) == near


def test_when_the_near_machines_are_gone_any_other_will_do() -> None:
    assert places_near(["east/0", "west/0"], {"west"}) == ["west/0"]
    assert places_near(["east/0"], {"west"}) == ["east/0"]


def crawled(distance: dict[str, dict[str, float]]) -> dict[str, str]:
    """Which machine each host ends at, if connections take as long as `distance` says. Checks that
    it has one visitor."""
    origins = {number: f"http://{number}" for number in range(12)}
    queue, made = Queue(dict.fromkeys(origins, 400)), Allocator(Settings())
    for place in PLACES:
        made.join(place.replace("/", ""), place)
    for number, origin in origins.items():
        made.add(Host(number, origin), 400, False)
    last: dict[str, str] = {}
    holds: dict[str, dict[str, list[int]]] = {place: {} for place in PLACES}
    for _ in range(6):
        for place in PLACES:
            for origin, ids in leased(queue.lease(made, place.replace("/", ""), 99, 99)).items():
                assert not any(origin in held for other, held in holds.items() if other != place)
                holds[place][origin] = ids
                last[origin] = machine_of(place)
        for place, held in holds.items():
            for origin, ids in held.items():
                queue.settle(int(origin.rpartition("/")[2]), ids)
                made.settle([(id, False) for id in ids])
                taken = distance.get(origin, {}).get(machine_of(place), 0.1)
                made.note(HostNote(origin, None, 0.0, 2.5, connected=taken), place.replace("/", ""))
            held.clear()
    return last


def test_hosts_move_to_the_machine_that_is_near_and_stay_there() -> None:
    near = {f"http://{n}": MACHINES[n % 3] for n in range(6)}
    found = crawled({origin: {m: 0.03 if m == there else 0.2 for m in MACHINES} for origin, there in near.items()})
    assert {origin: found[origin] for origin in near} == near
    alike = {origin: machine for origin, machine in found.items() if origin not in near}
    assert alike == {origin: machine_of(owner(origin, PLACES)) for origin in alike}


def test_with_all_machines_alike_hosts_are_where_they_always_were() -> None:
    """The same in every run, because machines have lasting names."""
    found = crawled({})
    assert found == crawled({}) == {origin: machine_of(owner(origin, PLACES)) for origin in found}
    assert set(found.values()) == set(MACHINES)
