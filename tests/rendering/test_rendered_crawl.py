"""A single-page application, crawled as a user does: text, links, search, versions, diff, archives,
recovery."""

import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
from warcio.archiveiterator import ArchiveIterator

from sanderling.browser.process import descendants
from tests.conftest import FAST, Run, listed, started
from tests.rendering.app import app, content
from tests.rendering.rendering import browser
from tests.servers import Answer, PageServer
from tests.waiting import until

PAGES = 8
ALWAYS = (*FAST, "--render", "always", "--clients", "1")


@pytest.fixture
def site() -> Iterator[PageServer]:
    browser()
    with PageServer(app(PAGES)) as server:
        yield server


def test_an_application_is_crawled_searched_changed_and_diffed(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--revisit-records")
    assert ran.code == 0, ran.err
    pages = listed(sanderling, folder)
    assert set(pages) == {"/", *(f"/page/{n}" for n in range(PAGES))}  # the links are in the DOM only
    assert pages["/page/3"]["title"] == "Page 3"
    assert [hit["url"] for hit in sanderling("search", folder, "unique5", "--json").lines] == [f"{site.origin}/page/5"]
    assert not sanderling("search", folder, "enable", "--json").lines  # what browsers without scripts show
    assert site.requests["/app.js"] == 1  # shared by all pages
    assert site.requests["/page/3"] == 1

    same = sanderling("crawl", "-d", folder, "--again")
    assert "0 changed" in same.out and f"{PAGES + 1} with the same bytes" in same.out, same.out

    site.table["/api/5.json"] = content(5, PAGES, "unique5 now the flock has left the beach for the north")
    assert "1 changed" in sanderling("crawl", "-d", folder, "--again").out
    difference = sanderling("diff", folder, f"{site.origin}/page/5").out
    assert "flock has left" in difference and "before the waves" in difference
    assert [row["url"] for row in sanderling("changes", folder, "--json").lines] == [f"{site.origin}/page/5"]
    assert sanderling("check", folder).code == 0

    before = listed(sanderling, folder)
    for name in ("sanderling.db", "sanderling.db-wal", "sanderling.db-shm"):
        (folder / name).unlink(missing_ok=True)
    assert sanderling("recover", folder).code == 0
    after = listed(sanderling, folder)
    facts = ("url", "title", "digest", "visits", "changes", "simhash")
    assert {path: [row[fact] for fact in facts] for path, row in after.items()} == {
        path: [row[fact] for fact in facts] for path, row in before.items()
    }
    assert "flock has left" in sanderling("diff", folder, f"{site.origin}/page/5").out
    assert len(sanderling("search", folder, "flock", "--json").lines) == 1


def test_the_archive_has_everything_that_the_page_was_made_of(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--max-depth", 1).code == 0
    kinds, made_from, responses = Counter[tuple[str, str]](), set(), {}
    (path,) = (folder / "warc").glob("*.warc.gz")
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            kind, url = record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or ""
            kinds[kind, url.replace(site.origin, "")] += 1
            text = record.content_stream().read()
            if kind == "response":
                responses[record.rec_headers.get_header("WARC-Record-ID")] = url
            if kind == "conversion":
                made_from.add(record.rec_headers.get_header("WARC-Refers-To"))
                assert b"sanderlings run along" in text and b"<noscript>" not in text
    for name in ("/page/1", "/page/2", "/"):
        assert kinds["conversion", f"urn:dom:{name}"] == kinds["response", name] == 1
    assert kinds["response", "/app.js"] == kinds["request", "/app.js"] == kinds["response", "/api/1.json"] == 1
    assert {responses[id] for id in made_from} == {f"{site.origin}{name}" for name in ("/", "/page/1", "/page/2")}
    index = sanderling("export", folder, "--format", "cdxj", "-o", "-").out.splitlines()
    assert len([line for line in index if "/app.js" in line]) == 1


def test_a_browser_that_is_killed_costs_one_retry(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    asked, release = [], []

    def held(times: int) -> Answer:
        asked.append(times)
        until(lambda: release)
        return content(0, PAGES)

    site.table["/api/0.json"] = held
    with started("crawl", site.origin + "/", "-d", folder, *ALWAYS, stdout=PIPE, stderr=DEVNULL) as crawl:
        until(lambda: asked)
        browsers = [pid for pid in descendants(crawl.pid) if is_browser(pid)]
        assert browsers
        os.kill(browsers[0], signal.SIGKILL)
        release.append(True)
        assert crawl.wait(120) == 0
    pages = listed(sanderling, folder)
    assert pages["/"]["title"] == "Page 0" and len(pages) == PAGES + 1
    assert site.requests["/"] == 1  # the document was not fetched again
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in browsers))


def test_a_crawl_that_is_killed_leaves_no_browser_and_loses_nothing(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    release: list[bool] = []

    def held(times: int) -> Answer:
        until(lambda: release)
        return content(3, PAGES)

    site.table["/api/3.json"] = held
    with started("crawl", site.origin + "/", "-d", folder, *ALWAYS, stdout=DEVNULL, stderr=DEVNULL) as crawl:
        until(lambda: site.requests["/api/3.json"])
        processes = descendants(crawl.pid)
        assert any(map(is_browser, processes))
        os.kill(crawl.pid, signal.SIGKILL)
        until(lambda: not any(map(is_browser, processes)))
    release.append(True)
    assert sanderling("crawl", "-d", folder).code == 0
    assert len(listed(sanderling, folder)) == PAGES + 1
    with sqlite3.connect(folder / "sanderling.db") as database:
        assert database.execute("SELECT count(*) FROM versions").fetchone()[0] == PAGES + 1


def test_a_crawl_that_is_killed_again_and_again_stores_every_page_once(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    folder, chance = tmp_path / "crawl", random.Random(7)
    for _ in range(3):
        seed = () if folder.exists() else (site.origin + "/",)
        killed_after(chance.randint(2, 8), site, "crawl", *seed, "-d", folder, *ALWAYS)
    assert sanderling("crawl", *(() if folder.exists() else (site.origin + "/",)), "-d", folder).code == 0
    pages = listed(sanderling, folder)
    assert {page["title"] for page in pages.values()} == {f"Page {n}" for n in range(PAGES)}
    with sqlite3.connect(folder / "sanderling.db") as database:
        assert database.execute("SELECT count(*) FROM versions").fetchone()[0] == len(pages) == PAGES + 1
    # A kill may leave archives that no commit names. They are set aside.
    assert {each["where"] for each in sanderling("check", folder, "--deep", "--json").lines} <= {"orphaned"}


def killed_after(requests: int, site: PageServer, *arguments: object) -> None:
    """Kills a crawl after so many more requests, which is a moment at any speed. Its browsers end
    with it."""
    enough, processes = sum(site.requests.values()) + requests, set[int]()

    def is_time() -> bool:
        processes.update(descendants(crawl.pid))
        return sum(site.requests.values()) >= enough or crawl.poll() is not None

    with started(*arguments, stdout=DEVNULL, stderr=DEVNULL) as crawl:
        until(is_time)
        crawl.kill()
    until(lambda: not any(map(is_browser, processes)))


def is_browser(pid: int) -> bool:
    try:
        return b"--remote-debugging-pipe" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
