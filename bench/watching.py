"""`python -m bench.watching`: measures what it costs a crawl to be watched.

A crawl of 1,000 hosts leases as many pages as its clients would hold. Then its state is read as for
every viewer. A crawl makes at most ten answers a second, however many viewers there are.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench import large_folder
from bench.places import working_folder

LOOKS = 300


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.watching", description=__doc__)
    parser.add_argument("--urls", type=int, default=100_000, help="how many are known (100,000)")
    parser.add_argument("--leases", type=int, default=4_000, help="how many are being fetched (4,000)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-watching-", dir=working_folder()) as home:
        folder = Path(home, "large")
        large_folder.make(folder, chosen.urls)
        look, leased, size = cost(folder, chosen.leases)
    print(f"{look * 1000:.2f} ms of the server's CPU time a look, with {leased:,} leases; {size:,} bytes an answer")
    print(f"{look:.2%} of one core at one look a second, {look * 10:.2%} at ten, which is the most")
    return 0


def cost(path: Path, leases: int) -> tuple[float, int, int]:
    """Seconds of CPU time for each answer, the number of leases, and the size of an answer."""
    from sanderling.model import LiveAnswer
    from sanderling.repository.folder import Folder
    from sanderling.server.loop import CrawlServer
    from sanderling.settings import load

    folder = Folder(path)
    settings, seeds = load(folder.settings)
    server = CrawlServer(folder, settings, list(seeds), 0)
    try:
        frontier = server._frontier
        allocator = frontier.leases
        for client in ("a", "b"):
            allocator.join(client)
        while allocator.leased < leases and any(frontier.lease(client, 1000) for client in ("a", "b")):
            pass
        begin = time.process_time()
        for _ in range(LOOKS):
            answer = msgspec.msgpack.encode(LiveAnswer(server._status.look(False)))
        return (time.process_time() - begin) / LOOKS, allocator.leased, len(answer)
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
