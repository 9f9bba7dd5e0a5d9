"""IndexNow: a site names its pages that changed, and only a site with the key is heard."""

import asyncio
import contextlib
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sanderling.network.reach import NetworkReach
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.server.requests import inbox
from sanderling.urls import identity
from sanderling.web.app import create_app
from sanderling.web.receiving.indexnow import REFUSED_AFTER
from sanderling.web.receiving.keys import KeyFile, Keys
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf
from tests.conftest import Run
from tests.receiving.site import FileSite, crawl, make_site, prose, refreshing
from tests.servers import Answer, PageServer
from tests.waiting import until
from tests.web.served import Served, running

KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("indexnow")


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[FileSite]:
    with make_site(home / "site", 12) as made:
        (home / "site" / f"{KEY}.txt").write_text(KEY)
        yield made


@pytest.fixture(scope="module")
def folder(home: Path, site: FileSite, sanderling: Run) -> Path:
    (home / "crawls").mkdir()
    crawl(sanderling, site, home / "crawls" / "site")
    return home / "crawls" / "site"


@pytest.fixture(scope="module")
def server(home: Path, folder: Path) -> Iterator[Served]:
    # The key of a message is enough: a site has neither token nor password.
    with running(home / "crawls", "--indexnow", "--token", "a-token-of-our-own") as served:
        yield served


def post(server: Served, site: FileSite, *urls: str, **more: str) -> httpx.Response:
    return server.http.post("/indexnow", json={"host": site.host, "key": KEY, "urlList": list(urls), **more})


def committed(folder: Path, url: str) -> int:
    store = open_store(Folder(folder), readonly=True)
    try:
        return len(store.versions(identity(url)))
    finally:
        store.close()


def test_what_is_not_believed_is_said(server: Served, site: FileSite, folder: Path) -> None:
    page = f"{site.url}/p1.html"
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    assert server.http.get("/api/v1/crawls").status_code == 401
    for sentence, answer in (
        ("is no URL of", post(server, site, page, "http://other.org/")),
        ("is no URL of", post(server, site, f"{elsewhere}/p1.html")),
        ("has to be on", post(server, site, page, keyLocation=f"{elsewhere}/{KEY}.txt")),
        ("without a query", post(server, site, page, keyLocation=f"{site.url}/{KEY}.txt?delete=all")),
        ("8 to 128", post(server, site, page, key="short")),
        ("urlList", post(server, site)),
        ("urlList", post(server, site, *[page] * 10_001)),
    ):
        assert answer.status_code == 422, answer.text
        assert sentence in answer.json()["detail"]
    assert not list(inbox.waiting(folder))


def test_nobody_learns_which_hosts_are_crawled(server: Served, site: FileSite, folder: Path) -> None:
    """Whatever the reason, a refusal is the same answer, and no sooner than a key is looked for."""
    page = f"{site.url}/p1.html"
    with ThreadPoolExecutor(3) as pool:
        asked = [
            pool.submit(post, server, site, "http://other.org/", host="other.org"),
            pool.submit(post, server, site, page, key="another-key"),
            pool.submit(post, server, site, page, key="another-key", keyLocation=page),
        ]
        answers = [each.result() for each in asked]
    assert {(each.status_code, each.text) for each in answers} == {(403, answers[0].text)}
    assert all(each.elapsed.total_seconds() >= REFUSED_AFTER for each in answers)
    assert not list(inbox.waiting(folder))


def test_messages_are_taken_only_when_asked_for(tmp_path: Path) -> None:
    app = create_app(Shelf([tmp_path]), Security(port=80))

    async def asked() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:80") as client:
            return (await client.get("/indexnow", params={"url": "http://e.org/", "key": KEY})).status_code

    assert asyncio.run(asked()) == 404


def test_a_key_is_looked_for_only_where_the_seed_was(site: FileSite) -> None:
    """A name of a seed that moves leads nowhere else."""
    keys = Keys("agent")
    at = f"http://localhost:{site.host.partition(':')[2]}/{KEY}.txt"
    assert not keys.is_valid(KeyFile(KEY, at, NetworkReach(addresses=("10.1.2.3",))), time.monotonic() + 60)
    assert not site.requests[f"/{KEY}.txt"]
    assert keys.is_valid(KeyFile(KEY, at, NetworkReach(addresses=("127.0.0.1",))), time.monotonic() + 60)


def test_a_key_file_that_redirects_is_not_followed(sanderling: Run, tmp_path: Path) -> None:
    with contextlib.ExitStack() as running_here:
        stolen = running_here.enter_context(PageServer({f"/{KEY}.txt": KEY.encode()}))
        away = Answer(status=302, headers=(("Location", f"http://127.0.0.1:{stolen.port}/{KEY}.txt"),))
        pages = running_here.enter_context(PageServer({"/": b"<p>a page</p>", f"/{KEY}.txt": away}))
        assert sanderling("crawl", f"http://127.0.0.1:{pages.port}/", "-d", tmp_path / "c", "--no-index").code == 0
        with running(tmp_path / "c", "--indexnow") as server:
            url = f"http://127.0.0.1:{pages.port}/"
            answer = server.http.get("/indexnow", params={"url": url, "key": KEY})
            assert answer.status_code == 403 and not stolen.requests
            with ThreadPoolExecutor(40) as pool:  # a flood of wrong keys costs the host few requests
                asked = [{"url": url, "key": f"wrong-key-{number}"} for number in range(40)]
                refused = list(pool.map(lambda each: server.http.get("/indexnow", params=each), asked))
            assert {each.text for each in refused} == {answer.text}
            assert len([each for each in pages.asked if "wrong-key" in each.url]) < 20


def test_a_message_waits_for_the_next_refresh(server: Served, site: FileSite, folder: Path) -> None:
    url = f"{site.url}/p2.html"
    site.write("p2.html", prose(102))
    assert post(server, site, url).status_code == 202
    with refreshing(folder):
        until(lambda: committed(folder, url) == 2)
        assert not list(inbox.waiting(folder))


def test_pages_are_visited_when_they_are_named(server: Served, site: FileSite, folder: Path) -> None:
    took = []
    with refreshing(folder):
        for number in range(3, 10):
            url = f"{site.url}/p{number}.html"
            site.write(f"p{number}.html", prose(200 + number))
            began = time.monotonic()
            assert post(server, site, url).status_code == 200
            until(lambda url=url: committed(folder, url) == 2)
            took.append(time.monotonic() - began)
        site.write("fresh.html", prose(300))
        assert post(server, site, f"{site.url}/fresh.html").status_code == 200
        until(lambda: committed(folder, f"{site.url}/fresh.html") == 1)
    assert statistics.median(took) < 60  # 0.5 s on an idle machine


def test_a_flood_with_the_right_key_is_slowed_down(server: Served, site: FileSite, folder: Path) -> None:
    before = len(list(inbox.waiting(folder)))
    page = f"{site.url}/p1.html"
    answers = [post(server, site, *[page] * 10_000) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused and "too much from" in refused[-1].json()["detail"] and int(refused[-1].headers["retry-after"]) > 0
    assert len(list(inbox.waiting(folder))) - before == len(answers) - len(refused)  # what was accepted is kept
