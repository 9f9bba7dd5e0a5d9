"""Two switchboards as one: clients on this machine and watchers on a socket, clients on other
machines beside them."""

import select
from collections.abc import Collection

from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import LiveAnswer, ToClient, ToServer
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import ClientLine


class JoinedSwitchboard:
    """A `Switchboard` that waits for both."""

    def __init__(self, local: SocketSwitchboard, cluster: ClusterSwitchboard) -> None:
        self._local = local
        self._cluster = cluster
        self._poll = select.poll()
        self._poll.register(local.fileno(), select.POLLIN)
        self._poll.register(cluster.fileno(), select.POLLIN)

    @property
    def lines(self) -> Collection[ClientLine]:
        return [*self._local.lines, *self._cluster.lines]

    def poll(self, timeout: float) -> tuple[list[tuple[ClientLine, ToServer]], list[ClientLine]]:
        arrived, lost = self._cluster.poll(0.0)
        if not arrived and not lost:
            self._poll.poll(timeout * 1000)
            arrived, lost = self._cluster.poll(0.0)
        said, left = self._local.poll(0.0)
        return arrived + said, lost + left

    def send(self, line: ClientLine, message: ToClient | LiveAnswer) -> None:
        self._of(line).send(line, message)

    def drop(self, line: ClientLine) -> None:
        self._of(line).drop(line)

    def close(self) -> None:
        self._cluster.close()
        self._local.close()

    def _of(self, line: ClientLine) -> SocketSwitchboard | ClusterSwitchboard:
        return self._cluster if line in self._cluster.lines else self._local
