"""Which machines are relays, and which machines each of them serves: a pure function of the
machines there are.

A *parent* is the server or a relay. With `levels` = 1 below it, every machine is its own. With
more, machines of one region become a branch: one of them is a relay, and the others are below it.
The relay divides them in the same way, with one level less. So with a fan-out of N there are at
most N + N^2 + ... + N^levels machines.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from sanderling.cluster.engine import ClusterNode
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import MachineTerms
from sanderling.settings import Settings

# Of the time that a parent waits for a silent machine, so much passes before the machine ends its
# clients.
FENCE_SHARE = 0.6


class Branch(NamedTuple):
    """A machine of a parent, and the machines below it if it is a relay."""

    node: ClusterNode
    below: tuple[ClusterNode, ...] = ()


class Shape(Struct, frozen=True):
    """What a parent knows of the tree below it."""

    levels: int = 1
    fan_out: int = 0  # 0 for any number
    patience: float = 30.0  # how long a machine without relays may be silent
    alone: float = 0.0  # how long a relay goes on without its parent
    compress: bool = False
    files: dict[str, bytes] = {}

    @classmethod
    def of(cls, settings: Settings, folder: Path, above: int = 0) -> "Shape":
        """What a parent knows that has `above` levels above it. Files that settings name are in
        `folder`."""
        return cls(
            settings.levels - above, settings.fan_out, settings.cluster_patience, settings.relay_alone,
            settings.cluster_compress, named_files(settings, folder),
        )  # fmt: skip

    def waits(self, relay: bool) -> Waits:
        if relay:
            below = self._ends_within(self.levels - 1)
            return Waits(self._ends_within(self.levels) / FENCE_SHARE, below / FENCE_SHARE, relay=True)
        return Waits(self.patience)

    def terms(self, relay: bool, head: str) -> MachineTerms:
        if relay:
            return MachineTerms(self.alone, self.compress, self.files, self._ends_within(self.levels - 1), head)
        return MachineTerms(self._ends_within(1), self.compress, self.files)

    def _ends_within(self, levels: int) -> float:
        """The seconds after which every client of a machine that is cut off has ended."""
        return self.patience * FENCE_SHARE + self.alone * (levels - 1)


def named_files(settings: Settings, folder: Path) -> dict[str, bytes]:
    """The files of the user that clients read."""
    names = {text.rpartition(":")[0] for text in (*settings.extractors, *settings.fetchers)}
    return {name: path.read_bytes() for name in names if name.endswith(".py") and (path := folder / name).is_file()}


def capacity(levels: int, fan_out: int) -> int:
    """How many machines fit into `levels` levels."""
    return sum(fan_out**level for level in range(1, levels + 1))


def branches(nodes: Iterable[ClusterNode], shape: Shape, depth: int, relays: Collection[str] = ()) -> list[Branch]:
    """Divides the machines below a parent whose own level is `depth`; 0 is the server.

    The parent's own machine is always its own and does not count. So are machines of its region, as
    far as the fan-out allows. `relays` are the ids of machines that are relays now: they stay, if
    no group has two.
    """
    # Which machines share a group must not depend on which are relays: that would never settle.
    nodes = sorted(nodes, key=lambda node: (_part(node, depth), node.name, node.id))
    here = [node for node in nodes if node.here]
    others = [node for node in nodes if not node.here]
    if shape.levels <= 1:
        return [Branch(node) for node in [*here, *(others[: shape.fan_out] if shape.fan_out else others)]]
    near = {_part(node, depth) for node in here} | {""}
    groups = [[node] for node in others if _part(node, depth) in near]
    for region in sorted({_part(node, depth) for node in others} - near):
        groups.append([node for node in others if _part(node, depth) == region])
    if shape.fan_out:
        groups = _fitted(groups, shape.levels, shape.fan_out)
    most = capacity(shape.levels - 1, shape.fan_out) if shape.fan_out else None
    return [Branch(node) for node in here] + [_branch(group, relays, most) for group in groups]


def left_out(nodes: Iterable[ClusterNode], found: Iterable[Branch]) -> list[ClusterNode]:
    """The machines for which a tree has no room."""
    placed = {node.id for branch in found for node in (branch.node, *branch.below)}
    return [node for node in nodes if node.id not in placed]


def _branch(group: Sequence[ClusterNode], relays: Collection[str], most: int | None) -> Branch:
    first, *rest = sorted(group, key=lambda node: (node.id not in relays, node.name, node.id))
    return Branch(first, tuple(rest[:most]))


def _fitted(groups: list[list[ClusterNode]], levels: int, fan_out: int) -> list[list[ClusterNode]]:
    """As many groups as the fan-out allows: small neighbours share one, and what one cannot hold
    goes to others."""
    most = 1 + capacity(levels - 1, fan_out)
    while len(groups) > fan_out:
        at = min(range(len(groups) - 1), key=lambda at: len(groups[at]) + len(groups[at + 1]))
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    while len(groups) < fan_out and groups and len(largest := max(groups, key=len)) > most:
        groups.remove(largest)
        groups += [largest[: len(largest) // 2], largest[len(largest) // 2 :]]
    for group in groups:
        while len(group) > most and len(smallest := min(groups, key=len)) < most:
            smallest.append(group.pop())
    return groups


def _part(node: ClusterNode, depth: int) -> str:
    """The part of a machine's region that counts for a parent: `europe.paris` is `paris` below
    `europe`."""
    parts = node.region.split(".")
    return parts[depth] if depth < len(parts) else ""
