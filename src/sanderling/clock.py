"""The time of a crawl. Tests of what takes weeks can move it: `SANDERLING_AHEAD` is added to the
system clock, in seconds. Pauses between requests always use the system clock.
"""

import time

from sanderling_announce.clock import DAY, ahead, now

__all__ = ["DAY", "RemoteClock", "ahead", "apart", "now"]

# Less than this between the times of day of two machines may be the time of a message.
_ALIKE = 5.0


def apart(theirs: float) -> float:
    """How far the time of day of another machine is ahead of ours; 0 if they are about the same, or
    if theirs is 0."""
    difference = theirs - time.time()
    return difference if theirs and abs(difference) > _ALIKE else 0.0


class RemoteClock:
    """The monotonic clock of another process, perhaps on another machine.

    A message takes some time, so the measured difference is always too large. The smallest one,
    from the fastest message so far, is the best estimate.
    """

    def __init__(self) -> None:
        self._difference = float("inf")

    def hear(self, theirs: float, ours: float) -> float:
        """Learns from the clock in a message. Returns what to add to the times in the message."""
        self._difference = min(self._difference, ours - theirs)
        return self._difference
