"""With `--images`, a page is marked when an image that it shows becomes a different picture under
the same address."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sanderling.change import Noise, image
from sanderling.change.judging import judge
from sanderling.model import Before, Outcome, State, Visit
from sanderling.repository.image_pages import MOST_PAGES, image_page_changes
from sanderling.testing.postgres import PostgresServer
from tests.change.test_pictures import picture
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer

MANY = 25  # more pages than are marked for one image


class Site:
    """A front page, two pages that share a photo, and many pages with a logo. Images can be
    replaced."""

    def __init__(self) -> None:
        self.images = {path: picture() for path in ("/photo.png", "/map.png", "/logo.png", "/alone.png")}
        self.missing: set[str] = set()
        self.second = "<p>Second</p><img src=/photo.png>"
        many = {f"/many/{n}": f"<p>Many {n}</p><img src=/logo.png>".encode() for n in range(MANY)}
        links = "".join(f"<a href={path}>{path}</a> " for path in ("/first", "/second", *many))
        pages: dict[str, Any] = {
            "/": f"<p>Front</p>{links}<img src=/alone.png>".encode(),
            "/first": b"<p>First</p><img src=/photo.png><img src=/map.png>",
            "/second": lambda _: Answer(self.second.encode()),
        }
        images = {path: lambda _, path=path: self._image(path) for path in self.images}
        self.server = PageServer({**pages, **many, **images})

    def _image(self, path: str) -> Answer:
        return Answer(b"", status=404) if path in self.missing else Answer(self.images[path], "image/png")


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    with made.server:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def crawled(request: pytest.FixtureRequest, site: Site, sanderling: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    server: PostgresServer | None = request.getfixturevalue("postgres") if request.param == "postgres" else None
    store = ("--store", server.dsn) if server is not None else ()
    sanderling("crawl", f"{site.server.origin}/", "-d", folder, "--images", "--no-hold", *FAST, *store)
    return folder


def told(site: Site, sanderling: Run, folder: Path, *more: object) -> dict[str, set[str]]:
    """What is said of each page. Images may change in several reports, each of which marks a page
    once."""
    found: dict[str, set[str]] = {}
    for row in sanderling("changes", folder, "--json", *more).lines:
        summary = row["summary"].replace(site.server.origin, "")
        found.setdefault(row["url"].removeprefix(site.server.origin), set()).update(summary.split("; "))
    return found


def test_pages_that_show_a_replaced_image_are_marked(crawled: Path, site: Site, sanderling: Run) -> None:
    site.images["/photo.png"] = picture("box", "red")
    site.images["/logo.png"] = picture("plain", "red")
    site.missing.add("/map.png")
    before = sanderling("status", crawled, "--json").json
    after = sanderling("crawl", "-d", crawled, "--again", "--json").json
    assert told(site, sanderling, crawled) == {
        "/photo.png": {"another picture"},
        "/map.png": {"gone (404)"},
        "/first": {"another picture: /photo.png", "a picture is gone (404): /map.png"},
        "/second": {"another picture: /photo.png"},
        # A logo is told once, not with each of its pages.
        "/logo.png": {"another picture", "more than 20 pages show it"},
    }
    listed = sanderling("changes", crawled, "--json").lines
    assert after["versions"] == before["versions"] + len(listed)
    assert after["changed"] == 2, "pages that were not visited for it are no visits"
    first = f"{site.server.origin}/first"
    assert "picture" in sanderling("diff", crawled, first).out
    assert "image" in sanderling("diff", crawled, first, "--kinds").out.splitlines()[0]
    assert "/first" in sanderling("feed", crawled).out
    assert "another picture" in sanderling("history", crawled, first).out
    (page,) = [row for row in sanderling("pages", crawled, "--json").lines if row["url"] == first]
    assert (page["changes"], page["visits"]) == (sum(row["url"] == first for row in listed), 2)
    assert sanderling("check", crawled, "--deep").code == 0
    site.second = "<p>Second, edited</p>"
    site.images["/photo.png"] = picture("circle", "lime")
    sanderling("crawl", "-d", crawled, "--again")
    rows = sanderling("changes", crawled, "--json").lines
    assert Counter(row["url"] for row in rows if "another picture: " in row["summary"]) == {
        first: 2,
        f"{site.server.origin}/second": 1,  # it does not show the image any more
    }


def test_marks_outlive_new_rules(site: Site, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    second = f"{site.server.origin}/second"
    sanderling("crawl", second, "-d", folder, "--images", *FAST)
    site.images["/photo.png"] = picture("box", "red")
    sanderling("crawl", "-d", folder, "--again")
    site.second = "<p>Second, edited</p><img src=/photo.png>"
    sanderling("crawl", "-d", folder, "--again")
    whole = sanderling("diff", folder, second, 1, 3).out
    assert "1 of 1 paragraph changed; Second -> Second, edited; another picture: " in whole
    with (folder / "sanderling.toml").open("a") as file:
        file.write('\n[[rules]]\nurls = "nowhere"\nignore = ["nav"]\n')
    sanderling("crawl", "-d", folder)
    assert told(site, sanderling, folder, "--kind", "image").keys() == {"/photo.png", "/second"}


def test_a_picture_that_is_another_one_at_most_visits_is_no_news() -> None:
    looks = [
        msgspec.msgpack.encode(image.Look(at * 0x0F0F_1234_5678_9ABC & (1 << 63) - 1, at << 40)) for at in range(1, 8)
    ]
    noise, news = b"", []
    for old, new in pairwise(looks):
        before = Before(old, noise, State.FETCHED, 200, None, True)
        visit = Visit(id=1, outcome=Outcome.PAGE, status=200, mime="image/png", fingerprint=new)
        judged = judge(visit, before, lambda _: b"", Noise())
        assert judged.change is not None
        noise = judged.noise
        news.append(judged.change.news)
    assert news == [True, True, True, False, False, False]
    assert judged.change.summary.endswith("as on most visits")
    # While it stays the same, it becomes news again.
    for _ in range(8):
        before = Before(looks[-1], noise, State.FETCHED, 200, None, True)
        noise = judge(Visit(id=1, outcome=Outcome.UNCHANGED, status=304), before, lambda _: b"", Noise()).noise
    before = Before(looks[-1], noise, State.FETCHED, 200, None, True)
    visit = Visit(id=1, outcome=Outcome.PAGE, status=200, mime="image/png", fingerprint=looks[0])
    found = judge(visit, before, lambda _: b"", Noise()).change
    assert found is not None and found.news


def test_rows_are_kept_for_few_pages_of_an_image() -> None:
    every = [(1, page) for page in range(100)]
    added = image_page_changes([], [], every).added
    assert len(added) == MOST_PAGES + 1
    # Nobody knows the other pages, so that the image stays one of the site when some of these
    # change.
    assert image_page_changes([(1, 5)], added, []) == ([], [])
    assert image_page_changes([(2, 5)], [(2, 5)], [(3, 5)]) == ([(2, 5)], [(3, 5)])
