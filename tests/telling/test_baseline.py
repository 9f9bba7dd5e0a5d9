"""The pages of the first crawl are the baseline: what was there before anything could change."""

from pathlib import Path

from sanderling.repository.store import Notes
from sanderling.telling.baseline import Baseline, baseline, begin, close
from tests.conftest import FAST, Run
from tests.servers import PageServer, links
from tests.telling.endpoint import Endpoint


class Noted(Notes):
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def note(self, key: str, value: str) -> None:
        self.texts[key] = value

    def noted(self, key: str) -> str:
        return self.texts.get(key, "")


def test_the_first_crawl_is_no_news_and_what_comes_later_is(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Endpoint() as endpoint, PageServer({"/": links("/a"), "/a": b"<p>said"}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, "--max-pages", 0, *FAST)
        with (folder / "sanderling.toml").open("a") as file:
            file.write(f'[[webhook]]\nurl = "{endpoint.url}"\nallow_private = true\n')
        sanderling("crawl", "-d", folder, "--max-pages", 1)
        sanderling("crawl", "-d", folder, "--max-pages", 100)  # the first crawl goes on
        told = sanderling("changes", folder)
        assert told.out == ""
        assert told.err == "sanderling: 2 pages of the first crawl are the baseline; --baseline lists them\n"
        assert "<entry>" not in sanderling("feed", folder).out
        assert "Nothing." in sanderling("digest", folder).out
        for flag in ("--baseline", "--all"):
            assert len(sanderling("changes", folder, "--json", flag).lines) == 2
            assert sanderling("feed", folder, flag).out.count("<entry>") == 2
        server.table |= {"/": links("/a", "/b"), "/a": b"<p>says", "/b": b"<p>new here"}
        sanderling("crawl", "-d", folder, "--again", "--max-pages", 100)
        sanderling("webhooks", folder, "--deliver")
        found = {row["url"].removeprefix(server.origin) for row in sanderling("changes", folder, "--json").lines}
        assert found == {"/", "/a", "/b"}
        assert len(endpoint.taken) == 3
        assert "1 new" in sanderling("digest", folder).out


def test_what_the_first_crawl_knew_is_no_news_when_its_turn_comes(sanderling: Run, tmp_path: Path) -> None:
    """It ended before it visited the page, and the page leads to others like it. A page that was
    missing is news."""
    folder = tmp_path / "crawl"
    table = {"/": links("/missing", "/list?from=1"), "/list?from=1": links("/list?from=2"), "/list?from=2": b"<p>two"}
    with PageServer(table) as server:
        sanderling("crawl", server.origin + "/missing", server.origin, "-d", folder, "--max-pages", 2, *FAST)
        server.table |= {"/": links("/missing", "/list?from=1", "/new"), "/new": b"<p>new", "/missing": b"<p>came"}
        sanderling("crawl", "-d", folder, "--again", "--retry-failed", "--max-pages", 100)
        found = {row["url"].removeprefix(server.origin) for row in sanderling("changes", folder, "--json").lines}
        assert found == {"/", "/new", "/missing"}
        assert len(sanderling("changes", folder, "--json", "--all").lines) == 6


def test_a_crawl_without_a_note_has_no_baseline() -> None:
    """It was begun by an older version, so nobody knows where its first crawl ended."""
    store = Noted()
    begin(store, newest=7, pages=7, urls=9, revisits=False)
    close(store, newest=9, pages=9, urls=9)
    assert baseline(store) == Baseline()


def test_a_first_crawl_that_was_cut_short_ends_with_the_first_revisit() -> None:
    store = Noted()
    begin(store, newest=0, pages=0, urls=0, revisits=False)
    begin(store, newest=5, pages=4, urls=30, revisits=False)
    assert baseline(store).open
    begin(store, newest=8, pages=7, urls=50, revisits=True)
    close(store, newest=20, pages=9, urls=60)
    assert baseline(store) == Baseline(8, 7, urls=50)
