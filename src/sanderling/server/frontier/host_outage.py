"""Hosts that answered before and cannot be reached now. They are waited for, and no page is blamed.

While a host is away, one of its pages is tried now and then, with growing pauses. When it answers,
all goes on. After the user's patience (`--host-patience`) the run no longer waits for it: its pages
stay queued for the next run.

A host that never answered is not waited for: its pages fail by the usual retries.
"""

import time
from collections.abc import Iterable

from sanderling.model import Host, Outcome, Visit
from sanderling.model.reasons import argument_of, code_of
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.outage import Say

# Nothing was sent, so the page itself was never asked for.
UNREACHED = {"unreachable", "unresolved", "proxy", "no-connection", "tls"}
LONGEST_WAIT = 60.0
# A page of a host that is not waited for any longer is queued again at once.
AT_ONCE = 0.001


class _Away:
    """A host that cannot be reached."""

    def __init__(self, origin: str, now: float) -> None:
        self.origin = origin
        self.since = now
        self.tries = 0
        self.next_try = 0.0
        self.given_up = False


class HostOutages:
    """Knows which hosts are away."""

    def __init__(self, allocator: Allocator, patience: float, retry_wait: float, say: Say) -> None:
        self._allocator = allocator
        self._patience = patience
        self._retry_wait = retry_wait
        self._answered: set[int] = set()
        self._away: dict[int, _Away] = {}
        self._say = say

    @property
    def given_up(self) -> list[str]:
        """The hosts that this run no longer waits for."""
        return [away.origin for away in self._away.values() if away.given_up]

    def hear(self, visits: Iterable[tuple[Visit, Host]]) -> dict[int, float]:
        """The visits that are not to blame, each with the seconds until it is tried again."""
        now = time.monotonic()
        excused: dict[int, float] = {}
        for visit, host in visits:
            if visit.status or visit.outcome is Outcome.SOURCE:
                self._answers(host, now)
            elif visit.outcome is Outcome.RETRY and unreached(visit.reason) and self._answered_before(host):
                excused[visit.id] = self._is_away(host, now)
        return excused

    def _answered_before(self, host: Host) -> bool:
        """In this run, or in an earlier one, which read its robots.txt."""
        return host.id in self._answered or (host.robots is not None and host.robots.allowed is not False)

    def _answers(self, host: Host, now: float) -> None:
        self._answered.add(host.id)
        away = self._away.pop(host.id, None)
        if away is not None:
            self._allocator.resume(host.id)
            self._say(f"{host.origin} is back after {now - away.since:.0f} s")

    def _is_away(self, host: Host, now: float) -> float:
        away = self._away.get(host.id)
        if away is None:
            away = self._away[host.id] = _Away(host.origin, now)
            self._say(f"{host.origin} cannot be reached: waiting for it, up to {self._patience:.0f} s")
        if now >= away.next_try:  # the others of a batch say what the first one said
            away.next_try = now + min(LONGEST_WAIT, self._retry_wait * 2 ** min(away.tries, 16))
            away.tries += 1
            self._allocator.suspend(host.id, away.next_try)
        if not away.given_up and now - away.since >= self._patience:
            away.given_up = True
            self._allocator.suspend(host.id, None)
            self._say(f"{host.origin} is still away after {now - away.since:.0f} s: its pages stay queued")
        return AT_ONCE if away.given_up else max(AT_ONCE, away.next_try - now)


def unreached(reason: str) -> bool:
    """Whether a visit ended before anything was asked for, also when that was robots.txt."""
    if code_of(reason) == "robots-unreadable":
        reason = argument_of(reason)
    return code_of(reason) in UNREACHED
