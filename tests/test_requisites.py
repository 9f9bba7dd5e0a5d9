"""With `--requisites`, everything that a page needs is fetched without a browser. It is no page."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from sanderling.model import ChangeKind, Kind, State
from sanderling.repository import warc
from sanderling.repository.opening import reading
from tests import complete_page
from tests.conftest import FAST, Run
from tests.rendering.rendering import browser
from tests.servers import Answer, PageServer, links, redirect

PLAIN = ("--requisites", "--render", "never", "--allow-private", *FAST)


class Site(NamedTuple):
    home: PageServer
    other: PageServer


@pytest.fixture
def site() -> Iterator[Site]:
    other = PageServer(complete_page.files_elsewhere())
    home = PageServer({"/": complete_page.page(other.origin), **complete_page.files()})
    with other, home:
        yield Site(home, other)


def known(folder: Path) -> dict[str, tuple[State, Kind, str]]:
    with reading(folder) as (_, store):
        found = store.select("SELECT url, state, kind, reason FROM urls")
    return {url: (State(state), Kind(kind), why) for url, state, kind, why in found}


def test_a_page_gets_all_files_that_its_text_names(site: Site, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", f"{site.home.origin}/", "-d", folder, "--json", "--max-pages", 1, *PLAIN)
    named = {*complete_page.files(), "/", *complete_page.files_elsewhere()}.difference(complete_page.BY_SCRIPT)
    asked = site.home.requests + site.other.requests - Counter({"/robots.txt": 2, "/sitemap.xml": 1})
    assert len(named) == 52
    assert asked == dict.fromkeys(named, 1)

    told = json.loads(ran.out.splitlines()[-1])
    assert (told["pages"], told["known"], told["queued"]) == (1, 1, 0)  # the link of a frame is not followed
    assert [json.loads(line)["url"] for line in sanderling("pages", folder, "--json").out.splitlines()] == [
        f"{site.home.origin}/"
    ]
    assert "51 files" in sanderling("status", folder).out
    assert sanderling("check", folder, "--deep").code == 0


def test_with_a_browser_it_gets_those_that_scripts_ask_for(site: Site, sanderling: Run, tmp_path: Path) -> None:
    browser()
    folder = tmp_path / "crawl"
    always = ("--requisites", "--render", "always", "--allow-private", *FAST)
    sanderling("crawl", f"{site.home.origin}/", "-d", folder, "--max-pages", 1, *always)
    every = {*complete_page.files(), "/", *complete_page.files_elsewhere()}
    assert len(every) == 55 and every <= {*site.home.requests, *site.other.requests}
    captured = sanderling("export", folder, "--format", "cdxj", "-o", "-").out
    assert all(f'{path}"' in captured for path in every)


def test_a_file_is_asked_for_again_by_its_validators_and_marks_its_pages(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    sheets = [b"p { color: red }", b"p { color: blue }"]

    def sheet(_: int) -> Answer:
        return Answer(sheets[0], "text/css", headers=(("ETag", f'"{len(sheets[0])}"'),))

    page = b"<link rel=stylesheet href=style.css><script src=app.js></script><p>Some text"
    table = {
        "/": page + links("/second"), "/second": page + b" of another", "/style.css": sheet,
        "/app.js": lambda n: Answer(b"%d" % n, "text/javascript"),
    }  # fmt: skip
    with PageServer(table) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, *PLAIN)
        sanderling("crawl", "-d", folder, "--again")
        assert not sanderling("changes", folder, "--json").out  # another script is not another look
        sheets.pop(0)
        sanderling("crawl", "-d", folder, "--again")
        (again,) = [each for each in server.asked if each.url == "/style.css"][-1:]
        assert again.headers["if-none-match"] == '"16"'
    told = [json.loads(line) for line in sanderling("changes", folder, "--json").out.splitlines()]
    assert sorted(each["url"] for each in told) == [f"{server.origin}/", f"{server.origin}/second"]
    assert {(*each["kinds"], each["summary"]) for each in told} == {
        ("presentation", f"a style sheet differs: {server.origin}/style.css")
    }
    with reading(folder) as (_, store):
        assert all(not each.news for each in store.changes() if each.url.endswith(".css"))
        assert store.counts().requisites == 2


def test_files_obey_what_the_user_and_robots_say(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    sheets = {f"/{n}.css": Answer(b"@import '%d.css'" % (n + 1), "text/css") for n in range(20)}
    with PageServer({"/far.png": Answer(complete_page.colour(1), "image/png")}) as other:
        link = f"<a href={other.origin}/far.png>a link out of scope</a>"
        table = {
            "/": f"{link}<a href=/second>second</a>".encode(),
            "/second": (
                f"<img src={other.origin}/far.png><img src=/moved.png><img src=/hidden.png><img src=/private/a.png>"
                "<img src=/missing.png><video src=/long.mp4></video><link rel=stylesheet href=0.css>"
            ).encode(),
            "/robots.txt": Answer(b"User-agent: *\nDisallow: /private/", "text/plain"),
            "/moved.png": redirect("/there.png"),
            "/there.png": Answer(complete_page.colour(2), "image/png"),
            "/long.mp4": Answer(bytes(20_000), "video/mp4"),
            **sheets,
        }
        with PageServer(table) as server:
            sanderling(
                "crawl", f"{server.origin}/", "-d", folder, "--exclude", "hidden", "--max-media", "10KiB", *PLAIN
            )
            found = {url.removeprefix(server.origin): row for url, row in known(folder).items()}
            assert found[f"{other.origin}/far.png"] == (State.FETCHED, Kind.REQUISITE, "")
            assert found["/there.png"] == (State.FETCHED, Kind.REQUISITE, "")
            assert found["/hidden.png"] == (State.EXCLUDED, Kind.REQUISITE, "exclude")
            assert found["/private/a.png"][2] == "robots"
            assert found["/missing.png"][0] == State.GONE
            assert found["/long.mp4"] == (State.EXCLUDED, Kind.REQUISITE, "too-large:10240")
            assert found["/9.css"][2] == "requisite-deep:8"
            assert "/hidden.png" not in server.requests
    assert not [line for line in sanderling("check", folder).out.splitlines() if "total" in line]


def test_recovery_knows_files_from_pages(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    table = {"/": b"<link rel=stylesheet href=style.css><p>Text", "/style.css": Answer(b"p {}", "text/css")}
    with PageServer(table) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, *PLAIN)
    before = known(folder)
    (folder / "sanderling.db").unlink()
    assert sanderling("recover", folder).code == 0
    assert {url: each for url, each in known(folder).items() if each[1] != Kind.SOURCE} == {
        url: each for url, each in before.items() if each[1] != Kind.SOURCE
    }
    with reading(folder) as (_, store):
        assert (store.counts().pages, store.counts().requisites, store.counts().requisites_queued) == (1, 1, 0)
        assert not [each for each in store.changes() if each.kinds != ChangeKind.NEW]


def test_the_same_bytes_are_kept_once(sanderling: Run, tmp_path: Path) -> None:
    folder, script = tmp_path / "crawl", b"let birds = 'dunlin';" * 100
    one, other = (Answer(script, "text/javascript") for _ in range(2))
    table = {
        "/": b"<script src=/a.js></script><script src=/b.js?v=2></script><p>Text",
        "/a.js": one,
        "/b.js?v=2": other,
    }
    with PageServer(table) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, "--clients", 1, *PLAIN)

    def places() -> dict[str, str]:
        with reading(folder) as (_, store):
            found = [row for row in store.changes() if ".js" in row.url]
            assert {warc.read(folder / "warc", row.stored).body for row in found} == {script}
            return {row.url: f"{row.warc} {row.offset}" for row in found}

    before = places()
    assert len(before) == 2 and len(set(before.values())) == 1
    (archive,) = (folder / "warc").glob("*.warc.gz")
    with archive.open("rb") as file:
        types = [
            (record.rec_type, record.rec_headers.get_header("WARC-Refers-To-Target-URI"))
            for record in ArchiveIterator(file)
        ]
    assert sum(kind == "revisit" and url in before for kind, url in types) == 1
    assert sanderling("check", folder, "--deep").code == 0
    (folder / "sanderling.db").unlink()
    assert sanderling("recover", folder).code == 0
    assert places() == before
    assert sanderling("check", folder, "--deep").code == 0
