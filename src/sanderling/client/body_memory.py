"""How much memory the bodies take that a client is receiving, and how many requests may be in
flight with that.

Each body is limited by `max_body`, but a thousand of them would be too much. When they fill the
budget, the request that was sent first goes on, and others end as they grow: they are sent again
later. As many fewer are in flight from then on, and slowly more again with each that is finished.
"""

# How much more may be in flight after each body that was received whole. With it, about one request
# in fifty is sent in vain while the budget is the limit, and a thousand are in flight again after a
# few hundred small bodies.
GROWTH = 1.02


class BodyMemory:
    """The budget of one client."""

    __slots__ = ("_connections", "_room", "limit", "used")

    def __init__(self, limit: int, largest: int, connections: int) -> None:
        """`largest` is the largest body: two of them always fit."""
        self.limit = max(limit, 2 * largest)
        self.used = 0
        self._connections = connections
        self._room = float(connections)

    def may_send(self, in_flight: int) -> bool:
        """Whether one more request may be sent beside those in flight."""
        return not in_flight or (in_flight < int(self._room) and self.used < self.limit // 2)

    def overflowed(self, in_flight: int) -> None:
        """A request was ended because the budget was used up; `in_flight` remain."""
        self._room = max(1.0, min(self._room, float(in_flight)))

    def received(self) -> None:
        """A body was received whole."""
        if self._room < self._connections:
            self._room = min(float(self._connections), self._room * GROWTH)
