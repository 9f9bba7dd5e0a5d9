"""Reading what a crawl has stored, from Python."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_type_hints

import pytest

import sanderling
from sanderling.errors import BadFolder, NothingFetched, UsageError
from sanderling.library.options import CrawlOptions
from sanderling.settings import Settings
from tests.conftest import started
from tests.servers import Answer, PageServer, links
from tests.waiting import until

FAST = {"delay": 0, "per_host": 4, "clients": 1, "render": "never"}
RICH = b"""<html lang=en><head><title>Knots</title><meta name=Description content="On reefs">
<meta property=og:title content="Red knots"><link rel=canonical href="/knots">
<script type="application/ld+json">{"@type": "Article", "name": "Knots"}</script></head><body>
<nav><a href=/menu>menu</a></nav><main><h1>Knots</h1><p>They eat <b>bivalves</b> on the shore, all day long.
<a href="../sea?x=1" rel=nofollow>the sea</a></p>
<div itemscope itemtype="https://schema.org/Bird"><span itemprop=name>Red knot</span></div></main></body></html>"""
PAGES = {
    "/": links("/knots", "/plain", "/old", "/broken", "/dunlin"), "/knots": RICH, "/dunlin": b"<p>dunlin",
    "/plain": Answer(b"just words", "text/plain"), "/old": b"<p>old news", "/menu": b"menu", "/broken": Answer(b"no", status=404),
}  # fmt: skip


def crawled(folder: Path, *seeds: str, **options: object) -> list[sanderling.Page]:
    with sanderling.Crawl(folder, seeds=seeds, **{**FAST, **options}) as crawl:  # type: ignore[arg-type]
        return list(crawl)


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(PAGES) as served:
        yield served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, server: PageServer) -> Path:
    """Crawled twice: in between a page changed, one is gone, one moved."""
    path = tmp_path_factory.mktemp("library") / "birds"
    assert len(crawled(path, server.origin)) == 6
    server.table["/dunlin"] = b"<p>dunlin and curlew, many more of them"
    server.table["/plain"] = Answer(b"", status=410)
    server.table["/old"] = Answer(b"", status=301, headers=(("Location", "/new"),))
    server.table["/new"] = b"<p>new news"
    assert {page.url.rpartition("/")[2] for page in crawled(path, again=True)} == {"dunlin", "new"}
    return path


def names(found: object) -> list[str]:
    return [each.url.rpartition("/")[2] for each in found]  # type: ignore[attr-defined]


def test_pages_are_those_that_are_there(folder: Path, server: PageServer) -> None:
    with sanderling.open(folder) as site:
        assert sorted(names(site.pages())) == ["", "dunlin", "knots", "menu", "new"]
        assert site.page(f"{server.origin}/plain") is None
        assert site.page(f"{server.origin}/never-seen") is None
        first, second = site.versions(f"{server.origin}/dunlin")
        assert (first.text(), second.text()) == ("dunlin", "dunlin and curlew, many more of them")
        now = site.page(f"{server.origin}/dunlin")
        assert now is not None and now.version == second.version
        then = site.page(f"{server.origin}/dunlin", at=datetime.fromtimestamp(first.fetched_at + 0.001, UTC))
        assert then is not None and then.text() == "dunlin"
        assert site.page(f"{server.origin}/dunlin", at=first.fetched_at - 1) is None
        was = site.page(f"{server.origin}/plain", at=first.fetched_at + 0.01)
        assert was is None or was.text() == "just words"


def test_what_a_page_says(folder: Path, server: PageServer) -> None:
    with sanderling.open(str(folder)) as site:
        page = site.page(f"{server.origin}/knots")
        assert page is not None
        assert (page.title, page.language, page.status, page.data) == ("Knots", "en", 200, {})
        assert page.body() == RICH
        assert "menu" in page.text() and "menu" not in page.main and "bivalves" in page.main
        assert "# Knots" in page.markdown() and f"[the sea]({server.origin}/sea?x=1)" in page.markdown()
        assert page.headers["content-type"].startswith("text/html")
        assert page.links == [(f"{server.origin}/menu", "menu", False), (f"{server.origin}/sea?x=1", "the sea", True)]
        found = page.metadata
        assert found.json_ld == [{"@type": "Article", "name": "Knots"}]
        assert (found.opengraph, found.meta) == ({"og:title": "Red knots"}, {"description": "On reefs"})
        assert found.canonical == f"{server.origin}/knots"
        (item,) = found.microdata
        assert item["type"] == "https://schema.org/Bird" and item["properties"] == {"name": ["Red knot"]}
        assert page.tree is not None
        assert [each.text for each in page.tree.select("main b")] == ["bivalves"]
        assert page.tree.xpath("//h1/text()") == ["Knots"]
    assert page.body() == RICH  # also when the folder is closed
    with pytest.raises(UsageError, match="was closed"):
        list(site.pages())


def test_changes_tell_of_every_end(folder: Path, server: PageServer) -> None:
    with sanderling.open(folder) as site:
        events = list(site.changes())
        kinds = {(event.kind, event.url.removeprefix(server.origin)) for event in events}
        assert kinds == {
            *(("new", path) for path in ("/", "/knots", "/plain", "/old", "/dunlin", "/new", "/menu")),
            ("changed", "/dunlin"), ("gone", "/plain"), ("moved", "/old"), ("failed", "/broken"),
        }  # fmt: skip
        by_kind = {event.kind: event for event in events}
        assert by_kind["moved"].target == f"{server.origin}/new"
        assert "404" in by_kind["failed"].reason and by_kind["gone"].page is None
        changed = by_kind["changed"]
        assert changed.page is not None and "curlew" in changed.page.text() and changed.parts == ("text",)
        for number, event in enumerate(events):  # a cursor is good for ever
            assert [each.cursor for each in site.changes(since=event.cursor)] == [
                e.cursor for e in events[number + 1 :]
            ]
        assert list(site.changes(since=site.cursor())) == []
        assert len(list(site.changes(since=site.cursor(at=0)))) == len(events)
        with pytest.raises(UsageError, match="is not a cursor"):
            site.changes(since="yesterday")
        with pytest.raises(UsageError, match="belongs to another"):
            list(site.changes(since="9999.0"))


def test_a_named_reader_is_given_each_event_until_it_is_done_with_it(folder: Path) -> None:
    def read(most: int) -> list[str]:
        found = []
        with sanderling.open(folder) as site:
            for event in site.changes(reader="vectors"):
                found.append(event.cursor)
                if len(found) == most:
                    break
        return found

    with sanderling.open(folder) as site:
        everything = [event.cursor for event in site.changes()]
        with pytest.raises(UsageError, match="is not a name"):
            site.changes(reader="../etc")
    first, second, third = read(3), read(2), read(99)
    assert second[0] == first[-1] and third[0] == second[-1]
    assert first[:-1] + second[:-1] + third == everything
    assert read(99) == []


def test_links_and_search(folder: Path, server: PageServer) -> None:
    with sanderling.open(folder) as site:
        edges = {(edge.source, edge.target) for edge in site.links()}
        assert {(edge.source, edge.target) for edge in site.links(of=f"{server.origin}/")} <= edges
        assert [edge.source for edge in site.links(to=f"{server.origin}/menu")] == [f"{server.origin}/knots"]
        results = site.search("curlew")
        assert results.total == 1 and results.hits[0].url == f"{server.origin}/dunlin"


def test_in_a_coroutine(folder: Path) -> None:
    async def run() -> None:
        async with sanderling.open(folder) as site:
            assert len([page async for page in site.pages()]) == 5
            first = [event.cursor async for event in site.changes(reader="loop")]
            assert first and [event async for event in site.changes(reader="loop")] == []

    asyncio.run(run())


def test_while_another_process_crawls(tmp_path: Path) -> None:
    def seen() -> list[str]:
        try:
            with sanderling.open(tmp_path / "c") as site:
                return sorted(names(site.pages()))
        except BadFolder:  # not yet
            return []

    pages = {"/": links("/a", "/b")} | {path: path.encode() for path in ("/a", "/b")}
    with PageServer(pages) as server, started("crawl", server.origin, "-d", tmp_path / "c", "--delay", "0"):
        until(lambda: seen() == ["", "a", "b"])


def test_seeds_that_cannot_be_reached_raise(tmp_path: Path, server: PageServer) -> None:
    with pytest.raises(NothingFetched, match=r"no seed could be fetched; .*/broken: .*404"):
        crawled(tmp_path / "c", f"{server.origin}/broken")

    async def run() -> None:
        async with sanderling.Crawl(tmp_path / "d", seeds=[f"{server.origin}/broken"], clients=1) as crawl:
            assert [page async for page in crawl] == []

    with pytest.raises(NothingFetched):
        asyncio.run(run())


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(BadFolder):
        sanderling.open(tmp_path)
    with pytest.raises(BadFolder):
        sanderling.open(tmp_path / "nothing")


def test_every_setting_is_an_option() -> None:
    assert sorted(get_type_hints(CrawlOptions)) == sorted(Settings.__struct_fields__)
