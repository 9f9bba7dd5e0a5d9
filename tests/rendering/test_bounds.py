"""Pages that never end, take all memory or ask for everything: each is bounded, and the next page
is rendered as ever.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sanderling.browser import page_load, pool, rendering
from sanderling.browser.finding import started_by
from sanderling.browser.process import descendants, memory_of
from sanderling.client.fetcher import Response
from tests.rendering.app import page
from tests.rendering.rendering import Renderer, browser, renderer
from tests.servers import Answer, PageServer

MEMORY = 700 << 20


@pytest.fixture(scope="module")
def render() -> Iterator[Renderer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "LONGEST_TASK", 0.5)
        patch.setattr(rendering, "RESTLESS", 1.0)
        patch.setattr(rendering, "PATIENCE", 2.0)
        patch.setattr(page_load, "MOST_FRAMES", 10)
        patch.setattr(page_load, "MOST_REQUESTS", 50)
        with renderer(render_timeout=8.0, render_memory=MEMORY, max_body=1 << 19) as made:
            yield made


@pytest.fixture
def site() -> Iterator[PageServer]:
    with PageServer({"/good": page("document.body.append('a good page')")}) as server:
        yield server


def noted(response: Response) -> str:
    assert response.rendered is not None, response.not_rendered
    return dict(response.rendered.notes)["rendered"]


BUSY = {
    "a busy loop": "document.body.append('before'); while (true) {}",
    "one after the other": "document.body.append('before'); setInterval(() => { while (true) {} })",
    "alerts": "document.body.append('before'); while (true) { alert('x'); confirm('y'); prompt('z'); print() }",
    "promises": "document.body.append('before'); const again = () => Promise.resolve().then(again); again()",
    "pop-ups": "document.body.append('before'); while (true) { open('/good') }",
    "synchronous requests": """document.body.append('before'); while (true) {
        const r = new XMLHttpRequest(); r.open('GET', '/good', false); try { r.send() } catch {} }""",
    "a regular expression": "document.body.append('before'); /^(a+)+$/.test('a'.repeat(40) + 'b')",
}  # fmt: skip


@pytest.mark.parametrize("what", BUSY)
def test_scripts_that_never_end_are_ended_and_the_page_is_read(what: str, render: Renderer, site: PageServer) -> None:
    site.table["/"] = page(BUSY[what])
    assert "before" in render.html(site.origin + "/")
    assert "a good page" in render.html(site.origin + "/good")


RESTLESS = {
    "a clock": "setInterval(() => { document.body.dataset.n = 1; document.getElementById('t').textContent = performance.now() }, 20)",
    "an animation": "const f = () => { document.getElementById('t').textContent += '.'; requestAnimationFrame(f) }; f()",
    "polling": "setInterval(() => fetch('/good'), 50)",
    "reloading": "document.body.append('x'); setTimeout(() => location.reload(), 50)",
    "history": "let n = 0; setInterval(() => history.pushState(null, '', '/p' + n++), 5)",
    "an answer that never comes": "fetch('/never')",
    "frames that nest": "const i = document.createElement('iframe'); i.src = '/?' + Math.random() + location.search.length; document.body.append(i)",
}  # fmt: skip


@pytest.mark.parametrize("what", RESTLESS)
def test_pages_that_never_rest_are_read(what: str, render: Renderer, site: PageServer) -> None:
    def never(times: int) -> Answer:
        import time

        time.sleep(5)
        return Answer()

    site.table |= {"/": page(RESTLESS[what], "<p id=t>here</p>"), "/never": never}
    for n in range(100):
        site.table[f"/?{n}"] = site.table["/"]
    html = render.html(site.origin + "/")
    assert "id=" in html
    assert sum(site.requests.values()) < 100
    assert "a good page" in render.html(site.origin + "/good")


def test_a_million_elements_are_bounded(render: Renderer, site: PageServer) -> None:
    site.table["/"] = page("document.body.innerHTML = '<p>x</p>'.repeat(1e6)")
    response = render.render(site.origin + "/")
    assert response.rendered is not None or "not-rendered:it needs more than" in response.not_rendered
    assert "a good page" in render.html(site.origin + "/good")


def test_a_long_page_is_cut_at_the_limit(render: Renderer, site: PageServer) -> None:
    site.table["/"] = page("document.body.innerHTML = '<p>x</p>'.repeat(1e5)")
    for _ in range(2):  # the memory of the first is not that of the second
        response = render.render(site.origin + "/")
        assert response.rendered is not None and response.rendered.truncated, response.not_rendered
        assert len(response.rendered.html) < (1 << 19) + 100
    assert "a good page" in render.html(site.origin + "/good")


BOMBS = {
    "objects": "const all = []; while (true) all.push(new Array(1e5).fill({}))",
    "bytes": "const all = []; setInterval(() => { const b = new Uint8Array(64e6).fill(1); all.push(b) }, 1)",
    "elements": "setInterval(() => { for (let i = 0; i < 2e4; i++) document.body.append(document.createElement('p')) }, 1)",
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_page_that_takes_all_memory_is_ended_alone(what: str, render: Renderer, site: PageServer) -> None:
    site.table["/bomb"] = page(BOMBS[what], "<p>as it was sent</p>")
    bomb, good = render.start(site.origin + "/bomb"), render.start(site.origin + "/good")
    render.wait(bomb, good)
    assert good.rendered is not None and b"a good page" in good.rendered.html
    assert bomb.rendered is not None or bomb.not_rendered.startswith("not-rendered:")
    assert b"as it was sent" in bomb.body


PROCESSES = ("renderer", "gpu-process", "utility", "zygote", "browser")


@pytest.mark.parametrize("kind", PROCESSES)
def test_any_killed_process_costs_its_page_at_most_one_retry(kind: str, render: Renderer, site: PageServer) -> None:
    """With the network service what a page has loaded is lost, and without zygotes there are no
    pages any more.
    """

    def once(times: int) -> Answer:
        browser = render.fetcher.pool.browser
        if times == 1 and browser is not None:
            every = [browser.pid] if kind == "browser" else descendants(browser.pid)
            wanted = b"" if kind == "browser" else b"--type=%b" % kind.encode()
            killed = [pid for pid in every if wanted in Path(f"/proc/{pid}/cmdline").read_bytes()]
            assert killed
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return Answer(b"came back", "text/plain")

    site.table |= {"/": page("fetch('/x').then((r) => r.text()).then((t) => document.body.append(t))"), "/x": once}
    assert "came back" in render.html(site.origin + "/")
    # Without its zygotes the headless shell lives on for a moment, in which the page may be tried.
    assert site.requests["/"] == 1 and site.requests["/x"] <= (3 if kind == "zygote" else 2)
    assert "a good page" in render.html(site.origin + "/good")


def test_a_browser_that_hangs_is_replaced(render: Renderer, site: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "TO_OPEN", 3.0)
    render.render(site.origin + "/good")
    browser = render.fetcher.pool.browser
    assert browser is not None
    with PageServer({"/good": page("document.body.append('another')")}) as other:  # it needs a tab of its own
        os.kill(browser.pid, signal.SIGSTOP)
        assert "another" in render.html(other.origin + "/good")
    assert render.fetcher.pool.browser is not browser and not Path(f"/proc/{browser.pid}").exists()


@pytest.fixture
def script() -> Iterator[Path]:
    """A browser behind a script that does not become the browser. It also writes a word, so that it
    is not passed over. The user who runs browsers must be able to read it.
    """
    with TemporaryDirectory() as name:
        script = Path(name, "browser")
        script.write_text(f'#!/bin/sh\necho here >&2\n{browser()} "$@"\n')
        for path in (script, script.parent):
            path.chmod(0o755)
        yield script


def test_a_browser_behind_a_script_is_known(script: Path, site: PageServer) -> None:
    with renderer(script) as renders, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "TO_ANSWER", 1.0)
        patch.setattr(pool, "TO_OPEN", 3.0)
        renders.render(site.origin + "/good")
        before = renders.fetcher.pool.browser
        assert before is not None and b"--remote-debugging-pipe" in Path(f"/proc/{before.pid}/cmdline").read_bytes()
        assert not Path(f"/proc/{before.pid}/exe").readlink().name.startswith(("sh", "dash", "bash"))
        with PageServer({"/good": page("document.body.append('another')")}) as other:
            os.kill(before.pid, signal.SIGSTOP)
            assert "another" in renders.html(other.origin + "/good")
        assert renders.fetcher.pool.browser is not before
        assert not memory_of(before.pid)  # nobody may have asked for the exit code of a script's child


def test_a_script_that_only_starts_a_program_is_passed_over(tmp_path: Path) -> None:
    program, script = tmp_path / "chromium", tmp_path / "script"
    for path, text in ((program, "#!/bin/sh\necho 1\n"), (script, f'#!/bin/sh -e\n\n{program} "$@"\n')):
        path.write_text(text)
        path.chmod(0o755)
    assert started_by(script) == program and started_by(program) == program
    script.write_text(f'#!/bin/sh\nexport A=1\n{program} "$@"\n')
    assert started_by(script) == script


def test_pages_that_wait_for_a_browser_which_dies_are_rendered_by_the_next(site: PageServer) -> None:
    with renderer(render="auto") as renders:
        for n in range(3):
            site.table[f"/app/{n}"] = page("document.body.innerHTML = '<p>word </p>'.repeat(100)")
        pages = [renders.start(f"{site.origin}/app/{n}") for n in range(3)]
        done: list[Response] = []
        while renders.fetcher.pool.browser is None:
            renders.loop.wait(0.5)
            done += renders.fetcher.finished()
        assert not done  # their tabs are being opened
        os.kill(renders.fetcher.pool.browser.pid, signal.SIGKILL)
        renders.wait(*pages)
        assert all(each.rendered is not None for each in pages), [each.not_rendered for each in pages]


def test_a_browser_that_hangs_in_a_page_is_replaced(site: PageServer) -> None:
    with renderer(render_timeout=2.0) as renders, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "TO_ANSWER", 1.0)
        patch.setattr(rendering, "_TO_READ", 1.0)

        def once(times: int) -> Answer:
            running = renders.fetcher.pool.browser
            if times == 1 and running is not None:
                os.kill(running.pid, signal.SIGSTOP)
            return Answer(b"came back", "text/plain")

        site.table |= {"/": page("fetch('/x').then((r) => r.text()).then((t) => document.body.append(t))"), "/x": once}
        assert "came back" in renders.html(site.origin + "/")


ENDLESS = {
    "states": """const name = () => 'x'.repeat(n); let n = 0; const show = () => { shown.innerHTML = `<p>Words ${name()}</p>`;
        const b = document.createElement('button'); b.textContent = `Open ${name()}`;
        b.onclick = () => { n++; show() }; shown.append(b) }; show()""",
    "growth": "more.onclick = () => shown.insertAdjacentHTML('beforeend', `<p>Words ${shown.childElementCount}</p>`)",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_states_that_never_end_end_with_their_budget(what: str, site: PageServer) -> None:
    """Every event shows something that was never there."""
    site.table["/"] = page(ENDLESS[what], "<div id=shown></div><button id=more>Show more</button>")
    with renderer(states=4, state_depth=3, state_time=8.0, render_timeout=8.0) as renders:
        response = renders.render(site.origin + "/")
        assert response.rendered is not None and len(response.rendered.found) <= 4
        assert response.rendered.found or b"<p>Words 1</p>" in response.rendered.html
        assert "a good page" in renders.html(site.origin + "/good")
