"""A revisit asks for what a page was made from, and renders it only if something of that has
changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.browser.sources import LONGEST, MOST_SOURCES, MadeFrom, PageSource, decode, encode
from sanderling.client.fetcher import Request, Response
from tests.conftest import FAST, Run, listed
from tests.rendering.app import SCRIPT, app, content, page
from tests.rendering.rendering import Renderer, browser, renderer
from tests.servers import Answer, PageServer

PAGES = 6
ALWAYS = (*FAST, "--render", "always", "--clients", "1")


@pytest.fixture(scope="module")
def render() -> Iterator[Renderer]:
    with renderer() as made:
        yield made


@pytest.fixture
def site() -> Iterator[PageServer]:
    browser()
    with PageServer(app(PAGES)) as server:
        yield server


def again(render: Renderer, url: str, before: Response) -> Response:
    assert before.rendered is not None and before.rendered.made_from
    request = Request(url, True, 1 << 20, private=("127.0.0.1",), renderable=True, made_from=before.rendered.made_from)
    response = render.fetcher.start(request)
    render.wait(response)
    assert response.rendered is not None
    return response


def test_a_page_whose_sources_are_the_same_is_not_rendered(render: Renderer, site: PageServer) -> None:
    url = site.origin + "/page/1"
    first = render.render(url)
    rendered = render.fetcher.pool.rendered
    second = again(render, url, first)
    assert second.rendered is not None and second.rendered.as_before
    assert again(render, url, second).rendered.as_before  # type: ignore[union-attr]
    assert render.fetcher.pool.rendered == rendered
    assert site.requests["/api/1.json"] == 3 and site.requests["/app.js"] == 1

    site.table["/api/1.json"] = content(1, PAGES, "something else")
    third = again(render, url, second)
    assert third.rendered is not None and b"something else" in third.rendered.html
    assert not third.rendered.as_before


def test_validators_are_used(render: Renderer, site: PageServer) -> None:
    def asked(times: int) -> Answer:
        before = site.asked[-1].headers.get("if-none-match")
        return (
            Answer(b"", status=304) if before == '"v1"' else Answer(b"data", "text/plain", headers=(("ETag", '"v1"'),))
        )

    site.table |= {
        "/": page("fetch('/data').then((r) => r.text()).then((t) => document.body.append(t))"),
        "/data": asked,
    }
    first = render.render(site.origin + "/")
    assert again(render, site.origin + "/", first).rendered.as_before  # type: ignore[union-attr]
    assert site.asked[-1].headers["if-none-match"] == '"v1"'


@pytest.mark.parametrize("what", ["the document", "a script", "an answer that is gone"])
def test_whatever_changes_is_seen(what: str, site: PageServer) -> None:
    with renderer() as fresh:  # no file is kept from another test
        first = fresh.render(site.origin + "/page/2")
    if what == "the document":
        site.table["/page/2"] = bytes(site.table["/page/2"]).replace(b"loading", b"wait")  # type: ignore[arg-type]
    elif what == "a script":
        site.table["/app.js"] = Answer(SCRIPT + b"//", "text/javascript")
    else:
        del site.table["/api/2.json"]
    with renderer() as later:
        assert not again(later, site.origin + "/page/2", first).rendered.as_before  # type: ignore[union-attr]


def test_a_page_that_posts_is_always_rendered(render: Renderer, site: PageServer) -> None:
    site.table["/"] = page("fetch('/x', {method: 'POST', body: 'q'})")
    response = render.render(site.origin + "/")
    assert response.rendered is not None and not response.rendered.made_from


def test_a_crawl_spares_revisits_and_says_so(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--revisit-records").code == 0
    ran = sanderling("crawl", "-d", folder, "--again")
    assert f"{PAGES + 1} with the same bytes" in ran.out and " 0 changed" in ran.out, ran.out
    known = sanderling("status", folder, "--hosts", "--json").json["rendering"]
    assert "revisits spared" in known[0]["why"]
    site.table["/api/3.json"] = content(3, PAGES, "a new text about gulls")
    assert " 1 changed" in sanderling("crawl", "-d", folder, "--again").out
    before = listed(sanderling, folder)
    (folder / "sanderling.db").unlink()
    assert sanderling("recover", folder).code == 0
    after = listed(sanderling, folder)
    assert [(row["digest"], row["visits"], row["changes"]) for row in after.values()] == [
        (row["digest"], row["visits"], row["changes"]) for row in before.values()
    ]


def test_what_is_stored_is_bounded_and_read_with_care() -> None:
    made = MadeFrom(b"12345678", (PageSource("https://example.org/a", b"87654321", '"v1"', "", True),))
    assert decode(encode(made)) == made
    assert not encode(made._replace(sources=made.sources * (MOST_SOURCES + 1)))
    assert len(encode(made)) < LONGEST
    for broken in ("", "made-from:", "made-from:%%%", "made-from:AAAA", encode(made)[:-8]):
        assert decode(broken) is None
