"""Which machines are relays, and how long each may be silent."""

import pytest

from sanderling.cluster.engine import ClusterNode
from sanderling.cluster.levels import Branch, Shape, branches, capacity


def node(name: str, region: str = "", here: bool = False) -> ClusterNode:
    return ClusterNode(f"id-{name}", name, 1.0, here, region)


def shown(found: list[Branch]) -> dict[str, list[str]]:
    return {branch.node.name: [below.name for below in branch.below] for branch in found}


def all_below(nodes: list[ClusterNode], shape: Shape, depth: int = 0) -> list[tuple[str, int]]:
    """Every machine of a tree, with its level."""
    found = []
    for branch in branches(nodes, shape, depth):
        found.append((branch.node.name, depth + 1))
        lower = Shape(shape.levels - 1, shape.fan_out)
        assert shape.levels > 1 or not branch.below  # the last level has no relays
        found += all_below(list(branch.below), lower, depth + 1)
    return found


def test_one_level_has_no_relays() -> None:
    nodes = [node("a", "north"), node("b", "north"), node("c")]
    assert shown(branches(nodes, Shape(1), 0)) == {"a": [], "b": [], "c": []}
    assert shown(branches(nodes, Shape(1, fan_out=2), 0)) == {"a": [], "c": []}


def test_a_relay_serves_the_machines_of_its_region() -> None:
    nodes = [
        node("head", "home", here=True), node("h2", "home"), node("x"), node("n1", "north"), node("n2", "north"),
        node("s1", "south"), node("n3", "north"),
    ]  # fmt: skip
    found = shown(branches(nodes, Shape(2), 0))
    assert found == {"head": [], "h2": [], "x": [], "n1": ["n2", "n3"], "s1": []}


def test_regions_have_parts() -> None:
    nodes = [node(f"{city}{n}", f"europe.{city}") for city in ("bonn", "oslo") for n in (1, 2, 3)]
    ((relay, below),) = branches(nodes, Shape(3), 0)
    assert (relay.name, len(below)) == ("bonn1", 5)
    assert shown(branches(below, Shape(2), 1)) == {"bonn2": ["bonn3"], "oslo1": ["oslo2", "oslo3"]}


def test_a_relay_stays_one_when_other_machines_come() -> None:
    nodes = [node("b", "north"), node("c", "north")]
    assert shown(branches(nodes, Shape(2), 0)) == {"b": ["c"]}
    assert shown(branches([*nodes, node("a", "north")], Shape(2), 0, {"id-b"})) == {"b": ["a", "c"]}


@pytest.mark.parametrize("count", range(2, 12))
def test_a_tree_settles(count: int) -> None:
    nodes = [node(f"{n:03}", "ab"[n % 2] if n > 6 else "") for n in range(count)]
    for fan_out in (0, 1, 2, 3):
        first = branches(nodes, Shape(2, fan_out), 0)
        relays = {branch.node.id for branch in first if branch.below}
        assert branches(nodes, Shape(2, fan_out), 0, relays) == first


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("fan_out", [1, 2, 3])
@pytest.mark.parametrize("extra", [-1, 0, 7])
def test_a_tree_has_as_many_machines_as_fit(levels: int, fan_out: int, extra: int) -> None:
    most = capacity(levels, fan_out)
    assert most == sum(fan_out**level for level in range(1, levels + 1))
    found = all_below([node(f"{n:03}") for n in range(most + extra)], Shape(levels, fan_out))
    assert len(found) == len({name for name, _ in found}) <= most
    if extra <= 0:
        assert len(found) == most + extra
    assert max((level for _, level in found), default=0) <= levels
    for level in range(1, levels + 1):
        assert sum(1 for _, each in found if each == level) <= fan_out**level


def test_leases_are_given_away_only_after_every_machine_below_must_have_ended() -> None:
    shape = Shape(3, patience=30.0, alone=120.0)
    lower = Shape(2, patience=30.0, alone=120.0)
    top, middle, leaf = shape.terms(True, "head"), lower.terms(True, "head"), lower.terms(False, "")
    assert top.head and not leaf.head
    # The relay ends, then the one below it, then its clients.
    assert top.fence + middle.fence + leaf.fence < shape.waits(True).reached
    # A relay that dies at once leaves only those below it.
    assert middle.fence + leaf.fence <= top.linger < shape.waits(True).dead
    assert leaf.fence <= middle.linger and leaf.linger == 0.0
    assert shape.waits(False) == (30.0, 0.0, False)
