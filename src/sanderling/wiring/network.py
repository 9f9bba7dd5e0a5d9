"""Whether it is the network that is away, or only a host. Nobody is blamed for what the network did."""

import time
from collections.abc import Callable, Iterable

from sanderling.errors import RunFailed
from sanderling.model import Outcome, Visit

# So many visits in a row without an answer from any of so many hosts, or of all that are asked, are no accident.
SILENCE, HOSTS = 5, 3
# How often a network that went away is looked for, and after how long a run that is to end gives up, in seconds.
FIRST_PROBE, LONGEST_PROBE, PATIENCE = 2.0, 300.0, 60.0


class Network:
    """Listens to answers, and to their absence."""

    def __init__(self, gives_up: bool) -> None:
        self._gives_up = gives_up
        self._unanswered = 0
        self._silent: set[int] = set()
        self._away_since = 0.0
        self._probe_at = 0.0
        self._pause = FIRST_PROBE
        self.on_notice: Callable[[str], None] = lambda _: None

    @property
    def away(self) -> bool:
        return self._away_since > 0

    def hear(self, visits: Iterable[tuple[Visit, int]], hosts: int) -> set[int]:
        """Takes note of a report's visits with their hosts; `hosts` are being asked. Returns those without an answer."""
        silent: set[int] = set()
        for visit, host in visits:
            if visit.status or visit.outcome is Outcome.SOURCE:
                self._unanswered = 0
                self._silent.clear()
                silent.clear()
                self._back()
            elif visit.outcome is Outcome.RETRY:
                self._unanswered += 1
                self._silent.add(host)
                silent.add(visit.id)
        if self._unanswered >= SILENCE and len(self._silent) >= min(HOSTS, hosts):
            self._went_away()
        return silent

    def room(self, room: int, leased: int) -> int:
        """Of so many leases, how many there may be now: while it is away, one now and then."""
        if not self.away:
            return room
        if leased or time.monotonic() < self._probe_at:
            return 0
        self._pause = min(self._pause * 2, LONGEST_PROBE)
        self._probe_at = time.monotonic() + self._pause
        return min(room, 1)

    def step(self) -> None:
        if self._gives_up and self.away and time.monotonic() - self._away_since > PATIENCE:
            raise RunFailed(
                f"stopped: no host has answered for {PATIENCE:.0f} s; no page was marked for it: "
                "run it again when the network is back"
            )

    def _went_away(self) -> None:
        if not self.away:
            self._away_since = time.monotonic()
            self._pause = FIRST_PROBE
            self._probe_at = self._away_since + self._pause
            self.on_notice("no host answers: the network seems to be away; waiting for it")

    def _back(self) -> None:
        if self.away:
            self.on_notice(f"the network is back after {time.monotonic() - self._away_since:.0f} s")
            self._away_since = 0.0
