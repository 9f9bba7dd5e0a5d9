"""Broken links of a crawl whose every link is known."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer


def page(body: str) -> Answer:
    return Answer(f"<!doctype html><title>t</title>{body}".encode(), "text/html")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[PageServer]:
    table = {"/there": page("<p id=part>here"), "/moved": Answer(b"", status=301, headers=(("Location", "/there"),))}
    table["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private\n", "text/plain")
    with PageServer(table, where=("127.0.0.2", 0)) as server:
        yield server


@pytest.fixture(scope="module")
def site(elsewhere: PageServer) -> Iterator[PageServer]:
    menu = '<a href="/">Home</a> <a href="/missing">Old news</a> <a href="/about">About</a>'
    away = "".join(
        f'<a href="{elsewhere.origin}{path}">{path}</a>' for path in ("/there", "/gone", "/moved", "/private")
    )
    table = {
        "/": page(f'{menu}{away}<a href="/guide#install">Install</a><a href="/guide#nowhere">Nowhere</a>'
                  '<a href="#top">Up</a><a href="#!/app">App</a><a href="/guide#caf%C3%A9">Cafe</a><img src=/no.png alt="A logo">'),
        "/about": page(f'{menu}<a href="/old">The guide</a> <a href="/round">Round</a><a href="javascript:x()">x</a>'),
        "/guide": page(f"{menu}<h2 id=install>Install</h2><a name='caf\u00e9'></a>"),
        "/old": Answer(b"", status=301, headers=(("Location", "/guide"),)),
        "/round": Answer(b"", status=302, headers=(("Location", "/round2"),)),
        "/round2": Answer(b"", status=302, headers=(("Location", "/round"),)),
    }  # fmt: skip
    with PageServer(table) as server:
        yield server


@pytest.fixture(scope="module")
def folder(site: PageServer, sanderling: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("broken") / "c"
    assert sanderling("crawl", f"{site.origin}/", "-d", made, *FAST, "--clients", 1, "--no-sitemaps").code == 0
    return made


def test_each_broken_link_with_the_pages_it_is_on(folder: Path, site: PageServer, sanderling: Run) -> None:
    asked = len(site.asked)
    ran = sanderling("broken", folder, "--json")
    found = {(row["kind"], row["url"].removeprefix(site.origin)): row for row in ran.lines}
    assert ran.code == 1
    assert set(found) == {
        ("broken", "/missing"), ("broken", "/round"), ("fragment", "/guide#nowhere"), ("redirect", "/old"),
    }  # fmt: skip
    missing = found["broken", "/missing"]
    assert ran.lines[0] == missing  # what most readers meet comes first
    assert (missing["status"], missing["pages"]) == (404, 3)
    assert {"url": f"{site.origin}/about", "words": "Old news"} in missing["links"]
    assert found["redirect", "/old"]["target"] == f"{site.origin}/guide"
    assert len(site.asked) == asked  # the crawl knows it all


def test_links_that_lead_elsewhere_are_asked_once(
    folder: Path, site: PageServer, elsewhere: PageServer, sanderling: Run
) -> None:
    elsewhere.asked.clear()
    found = {row["url"]: row for row in sanderling("broken", folder, "--external", "--json").lines}
    # A loopback address that the crawl did not begin at is private to whoever wrote the page.
    assert "private address" in found[f"{elsewhere.origin}/gone"]["reason"] and not elsewhere.asked
    assert found[f"{site.origin}/no.png"]["status"] == 404
    assert found[f"{site.origin}/no.png"]["links"] == [{"url": f"{site.origin}/", "words": "A logo"}]
    (folder / "sanderling.toml").write_text(f"{(folder / 'sanderling.toml').read_text()}\nallow_private = true\n")
    found = {row["url"]: row for row in sanderling("broken", folder, "--external", "--json").lines}
    outside = {
        url.removeprefix(elsewhere.origin): row for url, row in found.items() if url.startswith(elsewhere.origin)
    }
    assert {path: (row["kind"], row["target"]) for path, row in outside.items()} == {
        "/gone": ("broken", ""), "/moved": ("redirect", f"{elsewhere.origin}/there"),
    }  # fmt: skip
    assert outside["/gone"]["status"] == 404
    assert not elsewhere.requests["/private"]


def test_text_table_and_what_is_new(folder: Path, site: PageServer, sanderling: Run) -> None:
    shown = sanderling("broken", folder).out
    assert f"404  {site.origin}/missing\n" in shown and '"Old news"' in shown and "on 3 pages" in shown
    assert shown.endswith("2 broken, 1 to a part that is not there, 1 moved for good\n")
    table = list(csv.DictReader(io.StringIO(sanderling("broken", folder, "--csv").out)))
    assert sum(row["url"] == f"{site.origin}/missing" for row in table) == 3
    assert "/missing" in sanderling("broken", folder, "--new").out
    again = sanderling("broken", folder, "--new")
    assert (again.code, again.out) == (0, "nothing broke since the last look\n")
    (folder / "sanderling.broken").write_text("{")
    assert "is damaged; delete it" in sanderling("broken", folder, "--new").err


def test_missing_files_of_pages_are_broken(site: PageServer, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    ran = sanderling("crawl", f"{site.origin}/", "-d", folder, *FAST, "--requisites", "--no-sitemaps")
    assert ran.code == 0, ran.err
    found = {row["url"]: row for row in sanderling("broken", folder, "--json").lines}
    lost = found[f"{site.origin}/no.png"]
    assert (lost["kind"], lost["status"], lost["links"]) == (
        "broken",
        404,
        [{"url": f"{site.origin}/", "words": "A logo"}],
    )
    assert f"{site.origin}/missing" in found
