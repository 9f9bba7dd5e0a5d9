"""Which machines a host is near to, by how long connections to it take.

The first machine that visits a host is its stable owner, found by hashing. If it is far away and
the host has enough work, the others visit it in turn and measure, too. Then the host belongs to the
machines that are nearly as near as the nearest one, and of these to its stable owner. So with all
machines alike, everything stays where it was.
"""

from collections.abc import Collection, Mapping

# A connection that takes less, in seconds, is near: nothing is to be gained elsewhere.
NEAR = 0.02
# Machines are as good as the nearest one if they take at most this many times as long.
FACTOR = 1.5
# A host with fewer URLs that wait is not worth the trial.
WORTH = 50


def machine_of(place: str) -> str:
    """Places of clients are called `machine/number`."""
    return place.rpartition("/")[0]


def near_to(machines: Collection[str], seconds: Mapping[str, float], waiting: int) -> frozenset[str]:
    """The machines that a host may belong to. `seconds` are those of a connection, from the
    machines that measured it."""
    known = {machine: seconds[machine] for machine in machines if machine in seconds}
    best = min(known.values(), default=0.0)
    untried = frozenset(machines) - known.keys()
    if not known or (untried and best > NEAR and waiting >= WORTH):
        return untried
    return frozenset(machine for machine, taken in known.items() if taken <= max(NEAR, FACTOR * best))


def places_near(places: Collection[str], near: Collection[str]) -> Collection[str]:
    """The places on those machines; all, when none of the machines is there any more."""
    return [place for place in places if machine_of(place) in near] or places
