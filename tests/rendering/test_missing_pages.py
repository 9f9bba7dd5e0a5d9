"""Applications whose server answers 404 for their pages, in a real browser."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import FAST, Run
from tests.rendering.app import page
from tests.rendering.rendering import browser, renderer
from tests.servers import Answer, PageServer

BIRDS = ("knot", "dunlin")
SHELL = page(
    """const bird = location.pathname.split('/')[2];
    shown.innerHTML = !bird ? '<a href=/bird/knot>Knot</a> <a href=/bird/dunlin>Dunlin</a> <a href=/bird/rook>Rook</a>'
      : ['knot', 'dunlin'].includes(bird) ? `<h1>The ${bird}</h1> runs along the shore` : `There is no ${bird} here`""",
    "<div id=shown></div>",
)
MISSING = Answer(SHELL, status=404)
APPLICATION = {"/": SHELL, **{f"/bird/{name}": MISSING for name in (*BIRDS, "rook")}}


def test_pages_behind_404_are_crawled_and_stay_as_they_are(sanderling: Run, tmp_path: Path) -> None:
    browser()
    with PageServer(APPLICATION) as server:
        sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "app", *FAST)
        shown = {page["url"].removeprefix(server.origin): page["status"] for page in pages_of(sanderling, tmp_path)}
        again = sanderling("crawl", "-d", tmp_path / "app", "--again", *FAST).out
    assert shown == {"/": 200, "/bird/knot": 200, "/bird/dunlin": 200, "/bird/rook": 404}
    assert "0 changed, 0 new, 0 gone" in again
    assert len(sanderling("search", tmp_path / "app", "shore", "--json").out.splitlines()) == 2


def pages_of(sanderling: Run, place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in sanderling("pages", place / "app", "--json").out.splitlines()]


def test_a_page_that_says_what_nonsense_says_is_missing() -> None:
    with PageServer(APPLICATION) as server, renderer(render="auto") as renders:
        found, lost = (renders.render(f"{server.origin}/bird/{name}") for name in ("knot", "rook"))
    assert found.rendered is not None and b"The knot" in found.rendered.html
    assert lost.rendered is None and lost.status == 404
