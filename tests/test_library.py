"""Crawling from Python."""

import asyncio
from pathlib import Path

import pytest

import sanderling
from sanderling.errors import BadSeed, BadSetting, FolderInUse, UsageError
from sanderling.testing import ServedWeb, SyntheticWeb

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
