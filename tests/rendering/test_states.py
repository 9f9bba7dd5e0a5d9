"""The states behind events, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.browser.event_path import Step, path_in_words, path_of, then, url_of
from sanderling.client.fetcher import Rendered
from sanderling.model import HintedEvent
from sanderling.urls import identity
from tests.conftest import FAST, Run
from tests.rendering.app import page
from tests.rendering.rendering import Renderer, browser, renderer
from tests.rendering.stateful import ENTRIES, ROUTED, stateful
from tests.servers import PageServer
from tests.web.served import running

STATES = {"states": 50, "state_depth": 3}


@pytest.fixture(scope="module")
def birds() -> Iterator[PageServer]:
    browser()
    with PageServer(stateful()) as server:
        yield server


@pytest.fixture(scope="module")
def explored(birds: PageServer) -> Iterator[tuple[Renderer, Rendered]]:
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/")
        assert response.rendered is not None, response.not_rendered
        yield renders, response.rendered


def html_of(renders: Renderer, url: str) -> str:
    response = renders.render(url)
    assert response.rendered is not None
    return response.rendered.html.decode()


def test_a_path_of_events_is_part_of_the_url() -> None:
    path = then(then((), Step("click", "#a~b>li:nth-of-type(2)")), Step("scroll", "", 3))
    path = then(then(path, Step("click", "#next")), Step("click", "#next"))
    url = url_of("http://a/b?c=d", path)
    assert url == "http://a/b?c=d#~click:%23a%7Eb%3Eli:nth-of-type(2)~scroll*3:~click*2:%23next"
    assert path_of(url) == path
    assert path_in_words(url) == "click #a~b>li:nth-of-type(2), scroll 3 times, click #next 2 times"
    assert path_of("http://a/b#~drag:x") is None
    assert path_of("http://a/b#/route") == path_of("http://a/b") == ()


def test_what_only_grows_is_part_of_the_page(explored: tuple[Renderer, Rendered]) -> None:
    html = explored[1].html.decode()
    for number in range(35):
        assert html.count(f"comment {number} by") == 1


def test_tabs_and_pages_of_a_pager_are_states_once_each(explored: tuple[Renderer, Rendered]) -> None:
    renders, page = explored
    states = [url for url, _ in page.found]
    texts = [html_of(renders, url) for url in states]  # they are at hand: nothing is rendered
    assert sum("probe the sand" in text for text in texts) >= 1
    assert sum("plumage turns grey" in text for text in texts) >= 1
    for birds in ENTRIES[1:]:
        assert any(f"Entry on {birds} in the log" in text for text in texts), birds
    assert {label for _, label in page.found} >= {"Feeding", "Moult", "Next"}
    assert len(states) == len(set(states)) <= 12


def test_nothing_that_does_harm_is_triggered(birds: PageServer, explored: tuple[Renderer, Rendered]) -> None:
    assert birds.requests["/harm"] == birds.requests["/like"] == 0


def test_a_state_is_reached_again_by_its_path(birds: PageServer, explored: tuple[Renderer, Rendered]) -> None:
    renders, page = explored
    feeding = next(url for url, label in page.found if label == "Feeding")
    again = html_of(renders, feeding)
    assert "probe the sand" in again and "Pick a tab" not in again
    lost = renders.render(birds.origin + "/#~click:%23nowhere")
    assert lost.rendered is not None and lost.rendered.gone


def test_hints_of_the_site_are_tried_first(birds: PageServer) -> None:
    birds.table["/hinted"] = page(
        """document.addEventListener('click', ({ target }) => {
          if (target.id === 'quiet') shown.textContent = 'Only the site knows of this';
          if (target.id === 'other') shown.textContent = 'Anybody finds this';
          if (target.id === 'harm') fetch('/harm', { method: 'POST' }).then(() => (shown.textContent = 'Done'));
        })""",
        "<button id=other>Other</button><b id=quiet>Quiet</b><b id=harm>Delete it</b><p id=shown>Nothing yet</p>",
    )
    with renderer(**STATES | {"states": 1}) as renders:
        for hinted in ((), ("quiet", "harm", "gone")):
            events = tuple(HintedEvent("click", f'b[id="{id}"]') for id in hinted)
            response = renders.start(birds.origin + "/hinted", events=events)
            renders.wait(response)
            assert response.rendered is not None
            ((url, label),) = response.rendered.found
            assert label == ("Quiet" if hinted else "Other")
            assert ("Only the site" if hinted else "Anybody finds") in html_of(renders, url)
    assert birds.requests["/harm"] == 0


def test_one_event_of_a_group_is_enough(birds: PageServer) -> None:
    birds.table["/grouped"] = page(
        "function show(text) { fetch('/called'); shown.textContent = text }",
        "".join(f"<button id=a{n} onclick=\"show('One of many')\">A {n}</button>" for n in range(6))
        + "<button onclick=\"show('Another')\">B</button><p id=shown>Nothing yet</p>",
    )
    grouped = tuple(HintedEvent("click", f'button[id="a{n}"]', 1) for n in range(6))
    found, calls = {}, {}
    for case, events, settings in (
        ("alone", (), {}), ("each", tuple(each._replace(group=0) for each in grouped), {}), ("grouped", grouped, {}),
        ("only", grouped, {"reported_only": True}),
    ):  # fmt: skip
        with renderer(**STATES | settings) as renders:
            before = birds.requests["/called"]
            response = renders.start(birds.origin + "/grouped", events=events)
            renders.wait(response)
            assert response.rendered is not None
            found[case] = [label for _, label in response.rendered.found]
            calls[case] = birds.requests["/called"] - before
    assert found == {"alone": ["A 0", "B"], "each": ["A 0", "B"], "grouped": ["A 0", "B"], "only": ["A 0"]}
    assert calls["only"] < calls["grouped"] <= min(calls["alone"], calls["each"]), calls


def test_a_button_that_counts_brings_nothing_new(birds: PageServer) -> None:
    birds.table["/counting"] = page(
        "let n = 0; count.onclick = () => (count.textContent = `Useful (${++n})`)",
        "<button id=count>Useful (0)</button>",
    )
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/counting")
        assert response.rendered is not None and not response.rendered.found
        assert b"Useful (0)" in response.rendered.html
        assert renders.fetcher.pool.events <= 4


MOULT = "moult.onclick = () => (panel.textContent = 'In autumn the plumage turns grey');"
BUTTONS = "".join(f"<button id=b{n} class=k{n}>Part {n}</button>" for n in range(5)) + "<p id=panel>Feeding</p>"
NOISE = {
    "a clock": "let n = 0; setInterval(() => (noise.textContent = `It is 12:00:${n++}`), 150);",
    "a counter": "let n = 0; document.onclick = () => (noise.textContent = `Visitor number ${++n} of today`);",
    "the last action": "document.onclick = () => (noise.textContent = `Last action at ${performance.now()}`);",
    "rotating words": "const ads = ['Buy shoes', 'Cheap flights', 'Best coffee', 'Old wine', 'New cars']; let n = 0;"
    "setInterval(() => (noise.innerHTML = `<b>${ads[++n % 5]}</b>`), PERIOD);",
}  # fmt: skip


@pytest.mark.parametrize(
    ("noise", "period"), [*((each, 0) for each in NOISE if each != "rotating words"), ("rotating words", 500)]
)
def test_noise_opens_no_state_and_hides_none(birds: PageServer, noise: str, period: int) -> None:
    handlers = "".join(f"b{n}.onclick = () => {n};" for n in range(5))
    script = MOULT + NOISE[noise].replace("PERIOD", str(period)) + handlers
    birds.table["/noisy"] = page(
        script, BUTTONS + "<button id=moult>Moult</button><div id=noise>Visitor number 0 of today</div>"
    )
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/noisy")
        assert response.rendered is not None
        assert [label for _, label in response.rendered.found] == ["Moult"]


def test_a_table_of_numbers_is_a_state(birds: PageServer) -> None:
    """More numbers change than a page has counters."""
    birds.table["/table"] = page(
        "later.onclick = () => document.querySelectorAll('td').forEach((each, n) => (each.textContent = `${n} knots`))",
        "<button id=later>Later</button><table><tr>" + "<td>70 knots" * 6 + "</table>",
    )
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/table")
        assert response.rendered is not None
        assert [label for _, label in response.rendered.found] == ["Later"]


def test_an_event_is_not_tried_twice_in_a_state(birds: PageServer) -> None:
    birds.table |= {
        "/one": page("tab.onclick = () => fetch('/tab.txt').then((r) => r.text()).then((t) => (panel.textContent = t))",
                     "<p id=panel>First</p><button id=tab>Second</button>"),
        "/tab.txt": b"The second text",
    }  # fmt: skip
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/one")
        assert response.rendered is not None and len(response.rendered.found) == 1
    # Once to find the state, once to see that it did not come by itself, and once to see whether
    # the same button leads on from there.
    assert birds.requests["/tab.txt"] == 3


def test_routes_in_fragments_are_pages(birds: PageServer) -> None:
    birds.table["/app"] = ROUTED
    with renderer() as renders:
        response = renders.render(birds.origin + "/app")
        assert response.rendered is not None
        assert {url.partition("#")[2] for url, _ in response.rendered.found} >= {"/start", "/guide", "/api"}
        assert "top" not in {url.partition("#")[2] for url, _ in response.rendered.found}
        guide = renders.render(birds.origin + "/app#/guide")
        assert guide.rendered is not None
        assert b"<p>How to watch birds" in guide.rendered.html and b"<p>Where to begin" not in guide.rendered.html


def test_routes_are_known_by_direct_loads(birds: PageServer) -> None:
    """They may have any shape. A clock makes no route, and neither does a place on the page."""
    shown = "{ 'View:uri=/a': 'All about gulls', 'View:uri=/b': 'All about terns' }"
    links = "<a href='#View:uri=/a'>gulls</a> <a href='#View:uri=/b'>terns</a> <a href='#more'>more</a><p id=told>"
    clock = "<footer id=clock>0</footer><p id=place>A place"
    tick = "clock.textContent = 'now ' + performance.now()"
    # It reads its fragment when it is loaded, and never again.
    birds.table["/odd"] = page(
        f"{tick}; told.textContent = ({shown})[location.hash.slice(1)] ?? 'Birds'", links + clock
    )
    birds.table["/places"] = page(tick, "<a href='#place'>place</a> <a href='#gone'>gone</a>" + clock)
    with renderer() as renders:
        odd = renders.render(birds.origin + "/odd").rendered
        assert odd is not None
        assert {url.partition("#")[2] for url, _ in odd.found} == {"View:uri=/a", "View:uri=/b", "more"}
        assert "All about terns" in renders.html(birds.origin + "/odd#View:uri=/b")
        places = renders.render(birds.origin + "/places").rendered
        assert places is not None and not places.found


def test_states_behind_a_route_begin_with_it(birds: PageServer) -> None:
    birds.table["/app"] = ROUTED
    with renderer(**STATES) as renders:
        response = renders.render(birds.origin + "/app#/api")
        assert response.rendered is not None
        states = [url for url, _ in response.rendered.found if "#~" in url]
        assert states == []  # the button is replaced by more than it was: the page grows
        assert b"<p>The details of the interface" in response.rendered.html
        assert not any("click" in url for url, _ in response.rendered.found)  # routes are pages, not states
        again = renders.render(birds.origin + "/app#~route:/api~click:%23details")
        assert again.rendered is not None and b"<p>The details of the interface" in again.rendered.html


def test_a_crawl_keeps_searches_and_diffs_states(sanderling: Run, tmp_path: Path) -> None:
    browser()
    folder = tmp_path / "crawl"
    table = stateful(entries=2, total=15)
    table["/app"] = ROUTED
    table["/robots.txt"] = b"User-agent: *\nDisallow: /*click\n"  # a fragment is no part of the path
    with PageServer(table) as site:
        seeds = (site.origin + "/", site.origin + "/app")
        ran = sanderling("crawl", *seeds, "-d", folder, *FAST, "--render", "always", "--states", 20, "--clients", 1)
        assert ran.code == 0, ran.err
        rows = {
            row["url"].removeprefix(site.origin): row for row in sanderling("pages", folder, "--states", "--json").lines
        }
        plain = {row["url"].removeprefix(site.origin) for row in sanderling("pages", folder, "--json").lines}
        assert {"/", "/behind/feeding", "/behind/moult", "/app", "/app#/guide", "/app#/deep/guide"} <= plain
        assert not any("#~" in url for url in plain)
        (hit,) = sanderling("search", folder, "isopods", "--json").lines
        feeding = hit["url"].removeprefix(site.origin)
        assert feeding.startswith("/#~click")
        assert rows[feeding]["state_of"] == site.origin + "/"
        site.table["/tab/feeding.json"] = stateful()["/tab/moult.json"]
        again = sanderling("crawl", "-d", folder, "--again")
        assert again.code == 0, again.err
        changed = {row["url"].removeprefix(site.origin) for row in sanderling("changes", folder, "--json").lines}
        assert feeding in changed
        assert "grey" in sanderling("diff", folder, site.origin + feeding).out
        assert sanderling("check", folder, "--deep").code == 0
    with running(tmp_path) as served:
        of_the_page, of_the_state = (
            f"/crawls/crawl/pages/{identity(site.origin + path) & (1 << 64) - 1:016x}" for path in ("/", feeding)
        )
        event = "click #tabs&gt;span:nth-of-type(1)"
        shown = served.http.get(of_the_state, headers={"accept": "text/html"})
        assert "A state of" in shown.text and event in shown.text and 'id="states"' not in shown.text
        shown = served.http.get(of_the_page, headers={"accept": "text/html"})
        assert f'<a href="{of_the_state}"><bdi>{event}</bdi>' in shown.text
    for name in ("sanderling.db", "sanderling.db-wal", "sanderling.db-shm"):
        (folder / name).unlink(missing_ok=True)
    assert sanderling("recover", folder).code == 0
    after = {row["url"].removeprefix(site.origin) for row in sanderling("pages", folder, "--states", "--json").lines}
    assert set(rows) <= after
