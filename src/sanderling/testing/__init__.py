"""Webs to test a crawler with.

The synthetic web can have any size and changes on a known schedule. The fault server has a URL for
every kind of misbehaviour. The trap web leads to endless pages.

    with SyntheticWeb(hosts=3, pages=500).serve() as site:
        crawl(site.seeds, proxy=site.proxy)
        assert set(site.requests) == site.web.reachable(0)
"""

from sanderling.clock import DAY
from sanderling.testing.clock import Clock
from sanderling.testing.extracting import read_html
from sanderling.testing.faults.server import FaultServer, Received
from sanderling.testing.schedule import Kind, ScheduledChange
from sanderling.testing.synthetic import SyntheticWeb
from sanderling.testing.synthetic_server import ServedRequest, ServedWeb
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
    "read_html",
]
