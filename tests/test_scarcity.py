"""What the summary of a crawl says of a site that brought little."""

from pathlib import Path

import pytest

from sanderling.model import PageRow
from sanderling.presenting.scarcity import why_little
from sanderling.repository.warc import Archived
from sanderling.settings import Settings
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer

HOME = "http://e.org/"
LINKS = '<a href="/a">one</a><a href="/b">two</a>' + "<p>" + "Sand and tide. " * 100
APP = '<body><div id="app"></div><script src="/app.js"></script></body>'


def about(body: str, headers: tuple[tuple[str, str], ...] = (), **settings: object) -> list[str]:
    """What is said of a crawl of one page."""
    typed = [("Content-Type", "text/html"), *headers]
    seed = PageRow(url=HOME, status=200, state="fetched", depth=0, reason="")
    read = lambda _: Archived(HOME, "", 200, typed, body.encode())  # noqa: E731
    return why_little([seed], 1, {}, Settings(**settings), read)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "headers", "told"),
    [
        (f'<meta name="robots" content="nofollow">{LINKS}', (), "`--ignore-robots`"),
        (LINKS, (("X-Robots-Tag", "none"),), "forbids robots to follow its links"),
        ('<a rel="nofollow" href="/a">one</a>', (), "`--follow-nofollow`"),
        (f'<form><input name="u"><input type="PASSWORD" name="p"></form>{LINKS}', (), "asks for a login: `[[login]]`"),
        ("<p>We use cookies.</p><button>Accept all</button>", (), "asks for consent first"),
        ("<p>Nothing to see</p>", (), "http://e.org/ has no links"),
    ],
)
def test_a_seed_that_leads_nowhere_says_why(body: str, headers: tuple[tuple[str, str], ...], told: str) -> None:
    (sentence,) = about(body, headers)
    assert told in sentence and sentence.startswith(HOME)


def test_scripts_without_a_browser() -> None:
    assert about(APP, render="never") == [
        "http://e.org/ says next to nothing without its scripts: `--render auto` runs them"
    ]
    assert about(LINKS) == []


def test_what_was_not_followed_is_counted_by_reason() -> None:
    refused = PageRow(url=HOME, state="excluded", depth=0, reason="", reason_code="robots")
    told = why_little([refused], 0, {"robots": 3, "other-host": 12}, Settings(), lambda _: None)
    assert told == [
        "robots.txt of http://e.org disallows http://e.org/: `--ignore-robots` fetches it (only for your own site)",
        "not followed: 12 links to other hosts: `--scope domain` or `--scope any` follows them",
        "not followed: 2 links that robots.txt disallows: `--ignore-robots` follows them (only for your own site)",
    ]
    forbidden = PageRow(url=HOME, status=403, state="failed", depth=0, reason="", reason_code="status:403")
    assert "refuses this crawler (403)" in why_little([forbidden], 0, {}, Settings(), lambda _: None)[0]
    # A large crawl speaks of robots.txt only, if that cost it a third of what it found.
    assert why_little([], 40, {"robots": 19, "other-host": 900}, Settings(), lambda _: None) == []
    assert "20 links that robots.txt" in why_little([], 40, {"robots": 20}, Settings(), lambda _: None)[0]


def test_a_crawl_of_one_page_says_why(sanderling: Run, tmp_path: Path) -> None:
    table = {"/": f'<meta name="robots" content="index, nofollow">{LINKS}'.encode(), "/robots.txt": Answer(status=404)}
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST)
        assert "1 page " in ran.out and "forbids robots to follow its links (nofollow): `--ignore-robots`" in ran.out
        assert sanderling("crawl", "-d", tmp_path / "c", "--json").json["why_little"]
