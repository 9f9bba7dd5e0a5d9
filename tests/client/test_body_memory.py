"""All bodies that a client receives at a time share one budget of memory."""

from contextlib import closing
from pathlib import Path

from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request
from sanderling.client.loop import Loop
from sanderling.settings import Settings
from tests.conftest import Run, stored_urls
from tests.servers import Answer, PageServer, links

LARGE = 2 << 20
LIMIT = 4 * LARGE


def large_pages(count: int) -> dict[str, Answer | bytes]:
    return {f"/{n}": Answer(bytes([65 + n % 26]) * LARGE, "application/octet-stream") for n in range(count)}


def test_many_large_bodies_at_once_stay_within_the_budget() -> None:
    settings = Settings(body_memory=LIMIT, max_body=LARGE, connections=40)
    with (
        PageServer(large_pages(40)) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(settings, loop)) as fetcher,
    ):
        requests = [Request(server.origin + path, True, LARGE, private=("127.0.0.1",)) for path in server.table]
        waiting = {fetcher.start(request): request for request in requests}
        whole, most, again = set(), 0, 0
        while waiting:
            loop.wait(1.0)
            most = max(most, sum(response.size for response in waiting))
            for response in fetcher.finished():
                request = waiting.pop(response)
                if response.crowded_out:
                    again += 1
                    waiting[fetcher.start(request)] = request
                else:
                    assert not response.error
                    assert response.size == LARGE == len(response.body)
                    whole.add(request.url)
        assert len(whole) == 40
        assert LIMIT / 2 <= most <= LIMIT + LARGE  # the oldest goes on, whatever the others hold
        assert again <= 400  # most of them were sent once or twice, and none for ever


def test_a_crawl_of_large_bodies_misses_none(sanderling: Run, tmp_path: Path) -> None:
    table = large_pages(14)
    with PageServer(table | {"/": links(*table)}) as server:
        flags = ("--delay", 0, "--per-host", 14, "--clients", 1, "--body-memory", "8MiB", "--max-body", "4MiB")
        assert sanderling("crawl", server.origin, "-d", tmp_path / "c", *flags).code == 0
        assert len(stored_urls(tmp_path / "c")) == 15
