"""Whether hosts can be reached at all: each is asked for its robots.txt, the way every client asks."""

from collections.abc import Mapping
from contextlib import closing

from sanderling.client.curl_fetcher import SWEEP_EVERY, CurlFetcher
from sanderling.client.fetcher import Request, refused
from sanderling.client.loop import Loop
from sanderling.client.robots import LARGEST
from sanderling.settings import Settings


def one_reached(settings: Settings, hosts: Mapping[str, bool]) -> bool:
    """Whether one of these hosts can be reached, whatever it answers; each with whether it may be at a private address."""
    with closing(Loop()) as loop, closing(CurlFetcher(settings, loop)) as fetcher:
        requests = [Request(f"{origin}/robots.txt", trusted, LARGEST) for origin, trusted in hosts.items()]
        waiting = {fetcher.start(request) for request in requests if not refused(request, settings)}
        while waiting:
            loop.wait(SWEEP_EVERY)
            over = fetcher.finished()
            if not all(response.host_is_dead for response in over):
                return True
            waiting.difference_update(over)
        return False
