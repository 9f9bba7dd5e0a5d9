"""A changed limit of depth and newly named seeds also apply to URLs that are already known."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FAST, Run, listed
from tests.servers import PageServer, links, redirect


@pytest.fixture
def chain() -> Iterator[PageServer]:
    """Pages /0 to /5. Each links to the next one."""
    with PageServer({f"/{n}": links(f"/{n + 1}") + f"page {n}".encode() for n in range(5)} | {"/5": b"end"}) as server:
        yield server


def depths(sanderling: Run, folder: Path) -> dict[str, int]:
    return {path: page["depth"] for path, page in listed(sanderling, folder).items() if page["status"] == 200}


def test_a_known_url_counts_as_a_seed_when_it_is_named(
    sanderling: Run, chain: PageServer, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{chain.origin}/0", "-d", folder, *FAST, "--max-depth", 0, *kept_in).code == 0
    assert sanderling("crawl", f"{chain.origin}/1", "-d", folder, *FAST).code == 0
    assert depths(sanderling, folder) == {"/0": 0, "/1": 0}
    assert sanderling("check", folder).code == 0


def test_pages_behind_a_named_page_get_nearer(
    sanderling: Run, chain: PageServer, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{chain.origin}/0", "-d", folder, *FAST, "--max-depth", 2, *kept_in).code == 0
    assert depths(sanderling, folder) == {"/0": 0, "/1": 1, "/2": 2}
    assert sanderling("crawl", f"{chain.origin}/1", "-d", folder, *FAST).code == 0
    assert depths(sanderling, folder) == {"/0": 0, "/1": 0, "/2": 1, "/3": 2}
    assert sanderling("check", folder).code == 0


def test_a_larger_depth_brings_back_what_was_too_deep(sanderling: Run, chain: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{chain.origin}/0", "-d", folder, *FAST, "--max-depth", 0).code == 0
    assert sanderling("crawl", "-d", folder, *FAST, "--max-depth", 3).code == 0
    assert depths(sanderling, folder) == {"/0": 0, "/1": 1, "/2": 2, "/3": 3}
    assert sanderling("check", folder).code == 0


def test_a_smaller_depth_excludes_what_is_queued_beyond_it(sanderling: Run, chain: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{chain.origin}/0", "-d", folder, *FAST, "--max-pages", 2, "--max-depth", 5).code == 0
    assert sanderling("crawl", "-d", folder, *FAST, "--max-pages", 9, "--max-depth", 1).code == 0
    assert depths(sanderling, folder) == {"/0": 0, "/1": 1}
    assert listed(sanderling, folder, "--state", "excluded")["/2"]["reason_code"] == "too-deep"
    assert sanderling("check", folder).code == 0


def test_a_level_that_the_scope_excludes_does_not_block_the_next(sanderling: Run, tmp_path: Path) -> None:
    """With a limit of depth, one level waits for the one before it."""
    table = {"/": links("/a"), "/a": links("/x1", "/x2", "/b"), "/b": links("/c"), "/c": b"c"}
    with PageServer(table) as server:
        folder = tmp_path / "c"
        limits = ("--max-pages", 2, "--max-depth", 4, "--no-sitemaps")
        assert sanderling("crawl", server.origin, "-d", folder, *FAST, *limits).code == 0
        assert sanderling("crawl", "-d", folder, *FAST, "--max-pages", 9, "--exclude", "/x").code == 0
        assert depths(sanderling, folder) == {"/": 0, "/a": 1, "/b": 2, "/c": 3}


def test_a_seed_that_leads_to_a_page_that_was_too_deep_brings_it_back(sanderling: Run, tmp_path: Path) -> None:
    table = {"/0": links("/1"), "/1": links("/2"), "/2": links("/3"), "/3": b"end", "/new": redirect("/2")}
    with PageServer(table) as server:
        folder, flags = tmp_path / "c", (*FAST, "--no-sitemaps", "--max-depth", 1)
        assert sanderling("crawl", f"{server.origin}/0", "-d", folder, *flags).code == 0
        assert depths(sanderling, folder) == {"/0": 0, "/1": 1}
        assert sanderling("crawl", f"{server.origin}/new", "-d", folder, *flags).code == 0
        assert depths(sanderling, folder) == {"/0": 0, "/1": 1, "/2": 0, "/3": 1}
        assert sanderling("check", folder).code == 0
