"""Webs to try a crawler on: one that behaves, changes on a known schedule and can be as large as you like,
and a server in which every way to misbehave has a URL.

    with SyntheticWeb(hosts=3, pages=500).serve() as site:
        crawl(site.seeds, proxy=site.proxy)
        assert set(site.requests) == site.web.reachable(0)
"""

from sanderling.clock import DAY
from sanderling.testing.clock import Clock
from sanderling.testing.faults.server import FaultServer, Received
from sanderling.testing.schedule import Kind, ScheduledChange
from sanderling.testing.serving import ServedRequest, ServedWeb
from sanderling.testing.synthetic import SyntheticWeb
from sanderling.testing.traps import TrapWeb

__all__ = [
    "DAY",
    "Clock",
    "FaultServer",
    "Kind",
    "Received",
    "ScheduledChange",
    "ServedRequest",
    "ServedWeb",
    "SyntheticWeb",
    "TrapWeb",
]
