"""Converts times between the server, which uses the time of day, and messages, which use monotonic
clocks."""

import time

from msgspec.structs import replace

from sanderling import clock
from sanderling.model import HostLease, HostNote, Lease, Robots, VisitReport


def in_server_time(report: VisitReport, client: clock.RemoteClock) -> VisitReport:
    """A report whose times are converted to those of the server."""
    now = time.monotonic()
    pauses = client.hear(report.clock, now) + time.time() - now  # pauses use the clock of the machine
    visits = pauses + clock.ahead()
    return replace(
        report,
        visits=[replace(visit, at=visit.at + visits) for visit in report.visits],
        hosts=[moved_note(note, pauses) for note in report.hosts],
    )


def lease_of(hosts: list[HostLease]) -> Lease:
    """A lease as it is sent."""
    now = time.monotonic()
    shift = now - time.time()
    return Lease(now, [moved_lease(host, shift) for host in hosts])


def moved_note(note: HostNote, by: float) -> HostNote:
    return replace(note, not_before=note.not_before + by, robots=_moved_robots(note.robots, by))


def moved_lease(lease: HostLease, by: float) -> HostLease:
    return replace(lease, not_before=lease.not_before + by, robots=_moved_robots(lease.robots, by))


def _moved_robots(robots: Robots | None, by: float) -> Robots | None:
    return replace(robots, at=robots.at + by) if robots is not None else None
