"""What a crawl archived, revisits included, replays in pywb: with its own index, and with the one
that we export.

pywb has about 40 dependencies of its own, so it has an environment of its own: `make test` makes it
(`.venv/replay`).
"""

import json
import shutil
import subprocess
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.browser.chromium import CannotStart, chromium
from tests.conftest import FAST, Run
from tests.rendering.app import page
from tests.rendering.rendering import browser
from tests.replaying import PYWB, collection, index_of, pywb
from tests.servers import Answer, PageServer, links
from tests.waiting import PATIENCE, until

VALIDATED = (("ETag", '"one"'),)
# Paths whose keys in an index are easily got wrong.
ODD = ("/dir/", "/a//b", "/find?b=2&a=1", "/Upper/Case.HTML", "/~user/caf%C3%A9")
APPLICATION = """
const get = (name) => fetch(name).then((answer) => answer.text()).then((text) => (panel.textContent = text));
get("/first.txt");
tab.onclick = () => get("/second.txt");
"""


class Capture(NamedTuple):
    key: str
    at: str
    url: str


@pytest.fixture(scope="module")
def archive(sanderling: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[bytes]]]:
    """A folder of pywb with the archive of a crawl and our index of it, and what each URL has
    shown."""
    if not (PYWB / "wayback").exists():
        pytest.skip("pywb is not installed in .venv/replay: `make test` installs it")
    place = tmp_path_factory.mktemp("replay")
    validated, again = b"<h1>Validated</h1>", b"<h1>The same bytes</h1>"
    table = {
        **{path: f"<p>{path}</p>".encode() for path in ODD},
        "/validated": lambda n: Answer(validated if n == 1 else b"", status=200 if n == 1 else 304, headers=VALIDATED),
        "/again": again,
        "/changed": lambda n: b"<p>version %d</p>" % n,
        "/missing": Answer(b"<p>not here</p>", status=404),
    }
    table["/"] = b"<p>front</p>" + links(*table)
    with PageServer(table) as server:
        folder = place / "crawl"
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        # pywb tells captures apart by the second: the next crawl must not begin in the last second
        # of this one.
        second = int(time.time())
        until(lambda: int(time.time()) > second)
        assert sanderling("crawl", "-d", folder, *FAST, "--again", "--revisit-records").code == 0
        assert [each.headers.get("if-none-match") for each in server.asked if each.url == "/validated"] == [
            None,
            '"one"',
        ]
        shown = {server.origin + path: [f"<p>{path}</p>".encode()] for path in ODD}
        shown |= {f"{server.origin}/validated": [validated], f"{server.origin}/again": [again]}
        shown |= {f"{server.origin}/changed": [b"<p>version 1</p>", b"<p>version 2</p>"]}
    collection(folder, sanderling)
    return place, shown


def test_every_capture_replays_in_pywb(archive: tuple[Path, dict[str, list[bytes]]]) -> None:
    place, shown = archive
    captures = exported(place)
    by_url = {url: [each for each in captures if each.url == url] for url in shown}
    # Each page was captured by both crawls; one was unchanged by 304, most by their bytes.
    assert {url: len(found) for url, found in by_url.items()} == dict.fromkeys(shown, 2)
    with pywb(place) as home:
        for url, bodies in shown.items():
            replayed = [fetched(f"{home}/all/{each.at}id_/{each.url}") for each in by_url[url]]
            assert replayed == [bodies[0], bodies[-1]], url


def test_the_exported_index_has_the_keys_of_pywb(archive: tuple[Path, dict[str, list[bytes]]]) -> None:
    place, shown = archive
    made = made_by_pywb(place / "crawl")
    theirs = {each for each in map(capture, made.splitlines()) if each.url in shown}
    assert {each for each in exported(place) if each.url in shown} == theirs


def test_what_pruning_leaves_replays_in_pywb(
    archive: tuple[Path, dict[str, list[bytes]]], sanderling: Run, tmp_path: Path
) -> None:
    crawled, shown = archive
    folder = tmp_path / "crawl"
    shutil.copytree(crawled / "crawl", folder)
    assert sanderling("prune", folder, "--keep", "1 version").code == 0
    place = collection(folder, sanderling)
    captures = exported(place)
    assert {capture(each).url for each in made_by_pywb(folder).splitlines()} >= shown.keys()
    with pywb(place) as home:
        for url, bodies in shown.items():
            found = [fetched(f"{home}/all/{each.at}id_/{each.url}") for each in captures if each.url == url]
            assert found == [bodies[-1]] * (1 if len(bodies) == 2 else 2), url  # unchanged ones were seen twice


@pytest.fixture(scope="module")
def rendered(sanderling: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The same with a page that a browser rendered twice, with a state and screenshots, under both
    indexes."""
    if not (PYWB / "wayback").exists():
        pytest.skip("pywb is not installed in .venv/replay: `make test` installs it")
    browser()
    place = tmp_path_factory.mktemp("rendered")
    folder = place / "crawl"
    document = page(APPLICATION, "<p id=panel>Loading</p><button id=tab>Second</button>")
    files = {f"/{name}.txt": Answer(f"The {name} text".encode(), "text/plain") for name in ("first", "second")}
    with PageServer({"/App/?b=2&a=1": document, **files}) as server:
        url = server.origin + "/App/?b=2&a=1"
        always = (*FAST, "--render", "always", "--states", 2, "--screenshots", "--clients", 1, "--revisit-records")
        assert sanderling("crawl", url, "-d", folder, *always).code == 0
        assert [row["url"] for row in sanderling("pages", folder, "--states", "--json").lines] == [
            url,
            f"{url}#~click:%23tab",
        ]
        second = int(time.time())
        until(lambda: int(time.time()) > second)
        assert sanderling("crawl", "-d", folder, *always, "--again").code == 0
    for name in ("all", "theirs"):
        (place / "collections" / name / "indexes").mkdir(parents=True)
        (place / "collections" / name / "archive").symlink_to(folder / "warc")
    assert sanderling("export", folder, "--format", "cdxj", "-o", index_of(place)).code == 0
    index_of(place, "theirs").write_text(made_by_pywb(folder))
    return place, url


def test_a_rendered_page_and_what_it_loaded_replay_in_pywb(rendered: tuple[Path, str]) -> None:
    place, url = rendered
    document, text, picture = b"<!doctype html>", b"The ", b"RIFF"
    files = {url.partition("/App")[0] + name: text for name in ("/first.txt", "/second.txt")}
    # What the browser made of the page is found beside it.
    begins = {url: document, **files, f"urn:dom:{url}": document, f"urn:fullPage:{url}": picture}
    with pywb(place) as home:
        for name in ("all", "theirs"):
            captures = [each for each in exported(place, name) if each.url in begins]
            # The document was archived by both visits, the DOM by the first one alone: nothing
            # changed.
            times = Counter(each.url for each in captures)
            assert [times[each] for each in begins if each not in files] == [2, 1, 1], name
            assert all(times[each] >= 2 for each in files), name
            for each in captures:
                replayed = fetched(f"{home}/{name}/{each.at}id_/{each.url}")
                assert replayed[: len(begins[each.url])].lower() == begins[each.url].lower(), (name, each)
        newest = max(each.at for each in captures if each.url == url)
        seen_again(f"{home}/all/{newest}/{url}")


def seen_again(address: str) -> None:
    """A reader sees the page, and what is behind its button."""
    try:
        with chromium() as reader:
            reader.goto(address)
            replayed = reader.frame_locator("#replay_iframe")
            replayed.get_by_text("The first text").wait_for()
            replayed.locator("#tab").click()
            replayed.get_by_text("The second text").wait_for()
    except CannotStart as error:
        pytest.skip(f"Chromium cannot start here: {error}")


def test_the_index_of_a_rendered_page_has_the_keys_of_pywb(rendered: tuple[Path, str]) -> None:
    place, _ = rendered
    assert set(exported(place)) == set(exported(place, "theirs"))


def made_by_pywb(folder: Path) -> str:
    """The index that pywb itself makes of the archives of a crawl."""
    warcs = sorted((folder / "warc").glob("*.warc.gz"))
    command = [PYWB / "cdx-indexer", "--cdxj", "--sort", *warcs]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(place: Path, name: str = "all") -> list[Capture]:
    return [*map(capture, index_of(place, name).read_text().splitlines())]


def capture(line: str) -> Capture:
    key, at, facts = line.split(" ", 2)
    return Capture(key, at, json.loads(facts)["url"])


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        found: bytes = answer.read()
    return found
