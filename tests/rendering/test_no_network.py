"""The browser has no network: nothing that a page tries reaches a server, except through the
door.
"""

import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from sanderling.browser import process
from tests.rendering.app import page
from tests.rendering.rendering import Renderer, browser, namespaces_are_permitted, renderer
from tests.servers import Answer, PageServer, redirect

REPORT = "document.body.dataset.%s = %s;"


class Listener:
    """Counts what arrives at a port, TCP and UDP, whatever it is."""

    def __init__(self) -> None:
        self.met = 0
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for wait in (self._accept, self._receive):
            threading.Thread(target=wait, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            self.met += 1
            connection.close()

    def _receive(self) -> None:
        while True:
            try:
                self.udp.recv(100)
            except OSError:
                return
            self.met += 1

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()


@pytest.fixture(scope="module")
def render() -> Iterator[Renderer]:
    with renderer(render_timeout=20.0) as made:
        yield made


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture
def site() -> Iterator[PageServer]:
    with PageServer({}) as server:
        yield server


TRICKS = {
    "window.open": "open('http://TARGET/'); open('http://TARGET/b', '_blank', 'noopener')",
    "a link to a new window": "const a = document.createElement('a'); a.href = 'http://TARGET/'; a.target = '_blank'; a.click()",
    "a form": "const f = document.createElement('form'); f.action = 'http://TARGET/'; f.method = 'post'; document.body.append(f); f.submit()",
    "speculation rules": """const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent =
        '{"prefetch": [{"source": "list", "urls": ["http://TARGET/"]}], "prerender": [{"source": "list", "urls": ["http://TARGET/p"]}]}';
        document.head.append(s)""",
    "hints": """for (const rel of ['prefetch', 'preconnect', 'dns-prefetch', 'preload', 'prerender', 'modulepreload', 'manifest']) {
        const l = document.createElement('link'); l.rel = rel; l.href = 'http://TARGET/' + rel; document.head.append(l) }""",
    "a WebSocket": "try { new WebSocket('ws://TARGET/') } catch {}",
    "WebTransport": "try { new WebTransport('https://TARGET/') } catch {}",
    "WebRTC": """const P = window.RTCPeerConnection || document.createElement('iframe').contentWindow?.RTCPeerConnection;
        if (P) { const p = new P({iceServers: [{urls: 'stun:TARGET'}]}); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)) }""",
    "beacons and pings": "navigator.sendBeacon('http://TARGET/', 'x'); fetch('http://TARGET/k', {keepalive: true, mode: 'no-cors'})",
    "fetch": "fetch('http://TARGET/', {mode: 'no-cors'}); fetch('http://169.254.169.254/', {mode: 'no-cors'}).catch(() => 0)",
    "events": "new EventSource('http://TARGET/')",
    "a worker": """new Worker(URL.createObjectURL(new Blob(["fetch('http://TARGET/', {mode: 'no-cors'}); new WebSocket('ws://TARGET/')"])))""",
    "a frame": "const i = document.createElement('iframe'); i.src = 'http://TARGET/'; document.body.append(i)",
    "another place": "location = 'http://TARGET/'",
    "files": "for (const t of ['img', 'iframe', 'script']) { const e = document.createElement(t); e.src = 'file:///etc/passwd'; document.body.append(e) }",
    "a download": """const a = document.createElement('a'); a.href = 'http://TARGET/f'; a.download = 'f'; a.click();
        const b = document.createElement('a'); b.href = URL.createObjectURL(new Blob(['x'])); b.download = 'g'; b.click()""",
    "a frame without a source": """const i = document.createElement('iframe'); document.body.append(i);
        i.contentWindow.fetch('http://TARGET/', {mode: 'no-cors'}); try { new i.contentWindow.WebSocket('ws://TARGET/') } catch {}""",
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_nothing_leaves_the_browser(trick: str, render: Renderer, site: PageServer, listener: Listener) -> None:
    script = TRICKS[trick].replace("TARGET", f"127.0.0.1:{listener.port}")
    site.table["/"] = page(f"{script}; document.body.append('still here')")
    html = render.html(site.origin + "/")
    assert "still here" in html
    assert listener.met == 0
    assert "root:" not in html  # /etc/passwd
    assert {each.url for each in site.asked} == {"/"}


def test_where_scripts_want_to_go_is_a_link(render: Renderer, site: PageServer) -> None:
    site.table["/"] = page("document.body.append('kept'); location.href = '/next'")
    site.table["/next"] = b"not asked for by the browser"
    html = render.html(site.origin + "/")
    assert "kept" in html and f'<a href="{site.origin}/next"></a>' in html
    assert site.requests["/next"] == 0


def test_service_workers_do_not_exist(render: Renderer, site: PageServer) -> None:
    site.table["/"] = page("document.body.append('serviceWorker' in navigator ? 'has one' : 'has none')")
    assert "has none" in render.html(site.origin + "/")


def test_workers_and_frames_get_their_files_through_the_door(render: Renderer, site: PageServer) -> None:
    site.table |= {
        "/": page(
            "new Worker('/worker.js').onmessage = (e) => document.body.append(e.data);",
            "<iframe src='/frame'></iframe>",
        ),
        "/worker.js": Answer(b"fetch('/data').then((r) => r.text()).then(postMessage)", "text/javascript"),
        "/data": Answer(b"from the worker", "text/plain"),
        "/frame": page("fetch('/framed').then((r) => r.text()).then((t) => parent.document.body.append(t))"),
        "/framed": Answer(b"from the frame", "text/plain"),
    }
    html = render.html(site.origin + "/")
    assert "from the worker" in html and "from the frame" in html


def test_robots_rules_hold_for_what_pages_ask_for(site: PageServer) -> None:
    site.table |= {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /private/", "text/plain"),
        "/": page(
            "for (const n of ['/private/x', '/public/x']) fetch(n).then((r) => r.text(), () => n + ' is refused').then((t) => document.body.append(t))"
        ),
        "/private/x": Answer(b"secret", "text/plain"),
        "/public/x": Answer(b"well known", "text/plain"),
    }
    with renderer(ignore_robots=False) as polite:
        html = polite.html(site.origin + "/")
    assert "/private/x is refused" in html and "well known" in html
    assert site.requests["/private/x"] == 0 and site.requests["/robots.txt"] == 1


def test_a_post_and_the_headers_of_a_script_are_passed_on(render: Renderer, site: PageServer) -> None:
    site.table |= {
        "/": page(
            "fetch('/api', {headers: {'X-Page': 'yes', 'Accept': 'application/json'}}).then((r) => r.json()).then((d) => document.body.append(d.a))"
        ),
        "/api": Answer(json.dumps({"a": "answered"}).encode(), "application/json"),
    }
    assert "answered" in render.html(site.origin + "/")
    (asked,) = [each for each in site.asked if each.url == "/api"]
    assert asked.headers["x-page"] == "yes" and asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"].startswith("Sanderling/") and "cookie" not in asked.headers
    assert asked.headers["referer"] == site.origin + "/"


def test_a_redirect_to_a_private_address_is_refused(render: Renderer, site: PageServer, listener: Listener) -> None:
    site.table |= {
        "/": page("fetch('/away').then(() => 'came', () => 'refused').then((t) => document.body.append(t))"),
        "/away": redirect(f"http://127.0.0.1:{listener.port}/"),
    }
    assert "refused" in render.html(site.origin + "/")
    assert listener.met == 0


def test_a_certificate_that_is_not_good_is_refused(site: PageServer) -> None:
    authority = trustme.CA()  # nobody knows it
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with PageServer({"/data": Answer(b"from nobody knows whom", "text/plain")}, context) as secure:
        site.table["/"] = page(
            f"fetch('{secure.origin}/data').then((r) => r.text(), () => 'refused').then((t) => document.body.append(t))"
        )
        with renderer(allow_private=True) as trusting:
            assert trusting.html(site.origin + "/").endswith("refused</body></html>")
        assert not secure.asked


def test_the_browser_says_who_it_is_and_hides_nothing(render: Renderer, site: PageServer) -> None:
    """A page that wants no robots shows them something else. That is stored, and the crawl goes
    on.
    """
    site.table["/"] = page("document.body.append(/Sanderling/.test(navigator.userAgent) ? 'No robots' : 'Hello')")
    assert "No robots" in render.html(site.origin + "/")


def test_the_walls_are_there(render: Renderer, site: PageServer) -> None:
    """Where the system permits it, the browser runs alone and in its sandbox."""
    site.table["/"] = page("")
    render.render(site.origin + "/")
    browser = render.fetcher.pool.browser
    assert browser is not None
    assert all(browser.protection) is namespaces_are_permitted()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that an unprivileged user may read."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


# A browser of a system that forbids sandboxes.
_FORBIDDEN = """#!/bin/sh
case "$*" in *--no-sandbox*) exec {real} "$@" ;; esac
echo "FATAL: No usable sandbox! If this is a Debian system, please install the chromium-sandbox package" >&2
exit 1
"""


def test_without_a_sandbox_nothing_is_rendered_unless_the_user_says_so(site: PageServer, place: Path) -> None:
    site.table["/"] = page("document.body.append('drawn')")
    program = place / "chromium"
    program.write_text(_FORBIDDEN.format(real=browser()))
    program.chmod(0o755)
    with renderer(program) as render:
        response = render.render(site.origin + "/")
        assert response.rendered is None and "--no-browser-sandbox" in response.not_rendered
        assert render.fetcher.pool.browser is None
        assert any("forbids the browser's sandbox" in line for line in render.fetcher.pool.messages())
    with renderer(program, browser_sandbox=False) as render:
        assert "drawn" in render.html(site.origin + "/")
        assert any("without its sandbox" in line for line in render.fetcher.pool.messages())


def test_with_the_network_of_the_machine_nothing_is_rendered(site: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_is_alone", lambda pid: False)
    site.table["/"] = page("")
    with renderer() as render:
        response = render.render(site.origin + "/")
        assert response.rendered is None and "network namespace" in response.not_rendered
        assert render.fetcher.pool.browser is None
    with renderer(browser_sandbox=False) as render:
        assert render.html(site.origin + "/")
