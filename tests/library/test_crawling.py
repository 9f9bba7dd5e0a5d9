"""Crawling from Python."""

import asyncio
import contextlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import sanderling
from sanderling.errors import BadSeed, BadSetting, FolderInUse, UsageError
from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import Run
from tests.servers import WORDS, PageServer, links

FAST = {"delay": 0, "per_host": 4, "clients": 1}


async def pages(folder: Path, seed: str, **settings: object) -> list[sanderling.Page]:
    async with sanderling.Crawl(folder, seeds=[seed], **{**FAST, **settings}) as crawl:
        return [page async for page in crawl]


def test_two_crawls_in_one_process(tmp_path: Path) -> None:
    async def both() -> None:
        with SyntheticWeb(pages=80, seed=1).serve() as one, SyntheticWeb(pages=50, seed=2).serve() as two:
            first, second = await asyncio.gather(pages(tmp_path / "1", one.url), pages(tmp_path / "2", two.url))
            assert {page.url for page in first} == one.direct.reachable(0)
            assert {page.url for page in second} == two.direct.reachable(0)
            assert first[0].body() == one.direct.body(first[0].url, 0)
            assert first[0].title in first[0].text()

    asyncio.run(both())


def test_one_seed_need_not_be_a_list(tmp_path: Path, web: ServedWeb) -> None:
    async def run() -> None:
        async with sanderling.Crawl(tmp_path / "c", seeds=web.url, max_pages=1, **FAST) as crawl:
            assert [page.url async for page in crawl] == [web.url]

    asyncio.run(run())


def test_leaving_early_stops_and_entering_again_resumes(tmp_path: Path) -> None:
    async def run() -> None:
        with SyntheticWeb(pages=200, seed=1).serve() as site:
            site.hold(after=50)
            async with sanderling.Crawl(tmp_path / "c", seeds=[site.url], **FAST) as crawl:
                async for page in crawl:
                    assert page.status == 200
                    break
            assert sum(site.requests.values()) <= 50 + FAST["per_host"]
            site.release()
            async with sanderling.Crawl(tmp_path / "c") as crawl:
                async for _ in crawl:
                    pass
            assert crawl.counts.pages == len(site.direct.reachable(0))

    asyncio.run(run())


def test_mistakes_are_exceptions_of_ours(tmp_path: Path, web: ServedWeb) -> None:
    async def run() -> None:
        with pytest.raises(BadSeed):
            sanderling.Crawl(tmp_path / "c", seeds=["file:///etc/passwd"])
        with pytest.raises(BadSetting):
            await pages(tmp_path / "c", web.url, max_page=3)
        with pytest.raises(UsageError, match="at least one seed"):
            async with sanderling.Crawl(tmp_path / "c"):
                pass
        assert not (tmp_path / "c").exists()
        async with sanderling.Crawl(tmp_path / "c", seeds=[web.url], **FAST):
            with pytest.raises(FolderInUse):
                await pages(tmp_path / "c", web.url)

    asyncio.run(run())


async def read(folder: Path, *failing: int, **options: object) -> list[str]:
    """The paths of the pages that a block gives. Its code fails at these places."""
    paths: list[str] = []
    with contextlib.suppress(ZeroDivisionError):
        async with sanderling.Crawl(folder, **{**FAST, **options}) as crawl:
            async for page in crawl:
                paths.append(urlsplit(page.url).path)
                if len(paths) in failing:
                    raise ZeroDivisionError
    return paths


def test_a_page_is_given_again_until_its_reader_succeeds(tmp_path: Path) -> None:
    async def run() -> None:
        paths = [f"/{word}" for word in WORDS]
        with PageServer({"/": links(*paths)} | {path: path.encode() * 20 for path in paths}) as server:
            first = await read(tmp_path / "c", 3, seeds=[server.origin])
            second = await read(tmp_path / "c", 1)
            third = await read(tmp_path / "c")
            assert len(first) == 3 and second == first[-1:] and third[0] == first[-1]
            assert sorted(first[:-1] + third) == sorted(["/", *paths])
            assert await read(tmp_path / "c") == []

    asyncio.run(run())


def test_leaving_without_an_exception_counts_as_success(tmp_path: Path) -> None:
    async def run() -> None:
        with PageServer({"/": links("/a"), "/a": b"a"}) as server:
            async with sanderling.Crawl(tmp_path / "c", seeds=[server.origin], **FAST) as crawl:
                async for page in crawl:
                    assert page.url == f"{server.origin}/"
                    break
            assert await read(tmp_path / "c") == ["/a"]

    asyncio.run(run())


def test_only_what_is_stored_after_the_first_block_is_given(tmp_path: Path, sanderling: Run) -> None:
    with PageServer({"/": links("/a"), "/a": b"a"}) as server:
        assert sanderling("crawl", server.origin, "-d", tmp_path / "c", "--max-pages", 1, "--delay", 0).code == 0
        assert asyncio.run(read(tmp_path / "c", max_pages=9)) == ["/a"]


def test_visiting_again_gives_what_has_changed(tmp_path: Path) -> None:
    async def run() -> None:
        with PageServer({"/": links("/a", "/b"), "/a": b"a first text", "/b": b"b"}) as server:
            assert len(await read(tmp_path / "c", seeds=[server.origin])) == 3
            server.table["/a"] = b"another text"
            assert await read(tmp_path / "c", again=True) == ["/a"]

    asyncio.run(run())
