"""What users want to happen on pages before they are read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.browser.page_rules import PageRules
from sanderling.errors import BadSetting
from sanderling.settings import Settings
from sanderling.watches import Watch
from tests.conftest import Run
from tests.rendering.app import page
from tests.rendering.rendering import browser, namespaces_are_permitted, renderer
from tests.servers import PageServer

LATE = "setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<p class=late>it came late</p>') }, 1500)"
BANNER = """<div id="CybotCookiebotDialog">We value your privacy
<button onclick="document.body.append('accepted')">Accept</button>
<button id="CybotCookiebotDialogBodyButtonDecline" onclick="document.body.append('refused')">Decline</button></div>"""
CLICKS = """<p>Some words that need no browser</p>
<button id=terms onclick="setTimeout(() => { this.outerHTML = '<a id=price onclick=show()>Price</a>' }, 200)">Terms</button>
<script>function show() { document.body.append('it costs 75') }</script>"""


@pytest.fixture
def site() -> Iterator[PageServer]:
    with PageServer(
        {"/late": page(LATE), "/more": page("window.n = 41"), "/banner": page("", BANNER), "/clicks": page("", CLICKS)}
    ) as server:
        yield server


def test_waits_scripts_and_banners(site: PageServer, tmp_path: Path) -> None:
    script = tmp_path / "more.js"
    script.write_text("const answer = await Promise.resolve(n + 1);\ndocument.body.append(`answer ${answer}`)")
    rules = {"wait_for": (r"/late$ => p.late",), "run_script": (f"/more$ => {script}", f"/late$ => {script}")}
    with renderer(render_timeout=10.0, **rules) as render:
        assert "it came late" in render.html(site.origin + "/late")
        assert "answer 42" in render.html(site.origin + "/more")
        html = render.html(site.origin + "/banner")
        assert "refused" in html and "We value your privacy" not in html and ">accepted" not in html


def test_what_a_watch_clicks(site: PageServer) -> None:
    watch = Watch(site.origin + "/clicks", click=("#terms", "#price"))
    with renderer(render="auto", watch=(watch,)) as render:
        assert "it costs 75" in render.html(watch.url)


def test_a_selector_that_never_matches_ends_with_the_time_of_the_page(site: PageServer) -> None:
    with renderer(render_timeout=2.0, wait_for=("p.never",), close_banners=False) as render:
        assert "We value your privacy" in render.html(site.origin + "/banner")


def test_rules_are_for_pages_that_match(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("one()")
    settings = Settings(wait_for=("main", "/docs/ => #toc"), run_script=("/docs/ => a.js",))
    rules = PageRules(settings, tmp_path)
    assert rules.selectors("https://example.org/docs/x") == ["main", "#toc"]
    assert rules.selectors("https://example.org/") == ["main"]
    assert rules.scripts("https://example.org/docs/x") == ["one()"] and not rules.scripts("https://example.org/")
    for wrong in (Settings(run_script=("missing.js",)), Settings(wait_for=("([ => p",))):
        with pytest.raises(BadSetting):
            PageRules(wrong, tmp_path)


def test_a_script_that_is_not_there_is_said_before_the_crawl(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://127.0.0.1:1/", "-d", tmp_path / "crawl", "--run-script", "missing.js")
    assert ran.code == 2 and "missing.js cannot be read: No such file" in ran.err
    assert not (tmp_path / "crawl").exists()


def test_the_browser_is_shown(sanderling: Run) -> None:
    browser()
    ran = sanderling("browser", "status")
    assert ran.code == 0, ran.err
    if namespaces_are_permitted():
        assert "sandbox   on" in ran.out and "network   none" in ran.out
    missing = sanderling("browser", "status", env={"PATH": "", "HOME": "/no"})
    assert missing.code == 1 and "sanderling browser install" in missing.err


def test_what_scripts_put_into_no_element_is_read() -> None:
    script = """document.head.append(document.createElement("style"));
        document.querySelector("style").sheet.insertRule("p { color: teal }");
        const sheet = new CSSStyleSheet();
        sheet.replaceSync("h1 { color: maroon }");
        document.adoptedStyleSheets = [sheet];
        let grown = 0;
        const [chart, clock] = document.querySelectorAll("canvas");
        const grow = () => { chart.getContext("2d").fillRect(0, 0, ++grown, 9); if (grown < 9) setTimeout(grow, 20) };
        const turn = () => { clock.getContext("2d").fillRect(Math.random() * 99, Math.random() * 99, 1, 1); requestAnimationFrame(turn) };
        grow(); turn();"""
    body = "<p>words</p><canvas id=chart></canvas><canvas id=clock></canvas><canvas id=empty></canvas>"
    with PageServer({"/": page(script, body)}) as site, renderer(render_timeout=20.0) as render:
        html = render.html(site.origin + "/")
        assert html == render.html(site.origin + "/")  # the picture is the same at each visit
    assert "<style>p { color: teal; }</style>" in html and "<style>h1 { color: maroon; }</style></head>" in html
    assert '<canvas id="chart" data-sanderling-picture="data:image/webp' in html
    assert '<canvas id="clock"></canvas><canvas id="empty"></canvas>' in html and 'data-sanderling="' not in html
