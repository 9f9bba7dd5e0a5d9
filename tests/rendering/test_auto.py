"""`--render auto`, the default: a browser where it brings more, and none where it does not."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL

import pytest

from sanderling.browser.process import descendants
from tests.conftest import FAST, Run, listed, started
from tests.rendering.app import app, page
from tests.rendering.rendering import browser
from tests.rendering.test_rendered_crawl import is_browser
from tests.servers import Answer, PageServer, links
from tests.waiting import until

# On a busy machine a page takes longer to settle than a crawl waits for it.
CALM = (*FAST, "--render-timeout", "4m")
PAGES = 6
STATIC = 12
WORDS = b"<p>the sanderling runs along the beach</p>"
# Scripts, few words, and nothing that a browser adds.
SHORT = page("console.log('nothing')", "<p>short</p>")


@pytest.fixture
def site() -> Iterator[PageServer]:
    """A page of links to an application, to short pages with scripts and to plain pages."""
    browser()
    table = app(PAGES)
    table["/"] = links("/page/0", *(f"/short/{n}" for n in range(STATIC)), *(f"/plain/{n}" for n in range(STATIC)))
    table |= {f"/short/{n}": SHORT for n in range(STATIC)} | {f"/plain/{n}": WORDS for n in range(STATIC)}
    with PageServer(table) as server:
        yield server


def test_only_patterns_where_a_browser_brings_more_are_rendered(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin + "/", "-d", folder, *CALM, "--clients", 1).code == 0
    pages = listed(sanderling, folder)
    assert {path for path in pages if path.startswith("/page/")} == {f"/page/{n}" for n in range(PAGES)}
    assert pages["/page/5"]["title"] == "Page 5"
    known = {each["pattern"]: each for each in sanderling("status", folder, "--hosts", "--json").json["rendering"]}
    host = site.origin.removeprefix("http://")
    assert known[f"{host}/page/0"]["verdict"] == "render" and known[f"{host}/page/0"]["gains"] >= 2
    assert known[f"{host}/short/0"]["verdict"] == "plain" and known[f"{host}/short/0"]["samples"] <= 3
    assert set(known) == {f"{host}/page/0", f"{host}/short/0"}
    text = sanderling("status", folder, "--hosts").out
    assert f"rendering  {host}/page/0: rendered, " in text and f"{host}/short/0: not rendered, " in text

    # The next run knows what was learned: no sample, and the same DOM.
    again = sanderling("crawl", "-d", folder, "--again", *CALM)
    assert " 0 changed" in again.out, again.out
    assert site.requests["/api/3.json"] == 2


def test_no_browser_stays_alive_after_the_samples_of_a_static_site(site: PageServer, tmp_path: Path) -> None:
    release: list[bool] = []

    def held(times: int) -> Answer:
        until(lambda: release)
        return Answer(WORDS)

    site.table["/"] = links(*(f"/short/{n}" for n in range(STATIC)), "/held")
    site.table["/held"] = held
    with started("crawl", site.origin + "/", "-d", tmp_path / "crawl", *CALM, stdout=DEVNULL, stderr=DEVNULL) as crawl:
        until(lambda: any(map(is_browser, descendants(crawl.pid))))
        until(lambda: not any(map(is_browser, descendants(crawl.pid))))
        assert crawl.poll() is None
        release.append(True)
        assert crawl.wait(120) == 0


def test_a_page_that_no_browser_rendered_is_rendered_at_its_next_visit(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    broken, folder = tmp_path / "broken", tmp_path / "crawl"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    tmp_path.chmod(0o755)
    app_page = site.table["/page/0"]
    assert isinstance(app_page, bytes)
    for n in range(3):
        site.table[f"/page/{n}"] = Answer(app_page, headers=(("ETag", '"1"'),))
    assert sanderling("crawl", site.origin + "/page/0", "-d", folder, *CALM, "--browser", broken).code == 0
    page = listed(sanderling, folder)["/page/0"]
    assert "not rendered" in page["reason"], page
    again = sanderling("crawl", "-d", folder, "--again", *CALM, "--browser", browser())
    pages = listed(sanderling, folder)
    assert pages["/page/0"]["title"] == "Page 0" and not pages["/page/0"]["reason"], again.out
    assert set(pages) == {f"/page/{n}" for n in range(PAGES)}
    assert " 0 changed" in again.out, again.out


def test_never_starts_no_browser_and_a_pattern_limits_it(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    assert sanderling("crawl", site.origin + "/page/0", "-d", plain, *CALM, "--render", "never").code == 0
    assert set(listed(sanderling, plain)) == {"/page/0"} and site.requests["/app.js"] == 0
    some = tmp_path / "some"
    limits = ("--render", "always", "--render-include", "/page/[0-3]$")
    assert sanderling("crawl", site.origin + "/page/0", "-d", some, *CALM, *limits).code == 0
    assert {path for path, row in listed(sanderling, some).items() if row["title"].startswith("Page")} == {
        f"/page/{n}" for n in (0, 1, 2, 3)
    }


def test_mistakes_are_said_in_one_sentence(sanderling: Run, tmp_path: Path) -> None:
    for arguments, words in (
        (("--render", "sometimes"), "render = 'sometimes' is not one of never, auto, always"),
        (("--block", "pictures"), "is not a list of some of images, fonts, media, styles"),
        (("--render-include", "(["), "is not a valid pattern"),
        (("--render", "always", "--browser", "/no/such/program"), "is not a program that can be started"),
        (("--render-tabs", "0"), "has to be more than 0"),
    ):
        ran = sanderling("crawl", "http://127.0.0.1:1/", "-d", tmp_path / "crawl", *arguments)
        assert ran.code == 2 and words in ran.err and len(ran.err.splitlines()) == 1, ran.err
        assert not (tmp_path / "crawl").exists()
    ran = sanderling(
        "crawl", "http://127.0.0.1:1/", "-d", tmp_path / "crawl", "--render", "always", env={"PATH": "", "HOME": "/no"}
    )
    assert ran.code == 2 and "sanderling browser install" in ran.err
