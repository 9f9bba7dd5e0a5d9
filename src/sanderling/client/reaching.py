"""Finds out whether hosts can be reached, by asking each for its robots.txt."""

from collections.abc import Mapping
from contextlib import closing

from sanderling.client.curl_fetcher import SWEEP_EVERY, CurlFetcher
from sanderling.client.fetcher import Request, refused
from sanderling.client.loop import Loop
from sanderling.client.robots import LARGEST
from sanderling.settings import Settings


def one_reached(settings: Settings, hosts: Mapping[str, tuple[bool, list[str]]]) -> bool:
    """Whether one of these hosts answers, with whatever.
    The value says whether the user named a host, and the private addresses at which it may be.
    """
    with closing(Loop()) as loop, closing(CurlFetcher(settings, loop)) as fetcher:
        requests = [
            Request(f"{origin}/robots.txt", trusted, LARGEST, private=tuple(private))
            for origin, (trusted, private) in hosts.items()
        ]
        waiting = {fetcher.start(request) for request in requests if not refused(request, settings)}
        while waiting:
            loop.wait(SWEEP_EVERY)
            over = fetcher.finished()
            if not all(response.host_is_dead for response in over):
                return True
            waiting.difference_update(over)
        return False
