"""Whether hosts can be reached at all: each is asked for its robots.txt, the way every client asks."""

import os
import time
from collections.abc import Mapping

from sanderling.client.site import PoliteHost
from sanderling.client.transport import SWEEP_EVERY, Transport
from sanderling.model import Task
from sanderling.settings import Settings


def one_reached(settings: Settings, hosts: Mapping[str, bool]) -> bool:
    """Whether one of these hosts can be reached, whatever it answers; each with whether it may be at a private address."""
    line = os.eventfd(0)  # on which no server speaks
    transport = Transport(settings, line)
    try:
        for origin, trusted in hosts.items():
            transport.start(Task(0, f"{origin}/robots.txt", 0, 0, 0), PoliteHost(origin, trusted, settings), 0)
        while transport.active:
            transport.wait(SWEEP_EVERY)
            if not all(fetch.host_is_dead for fetch in transport.finished() + transport.overdue(time.monotonic())):
                return True
        return False
    finally:
        transport.close()
        os.close(line)
