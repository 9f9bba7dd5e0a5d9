"""Attacks on the server: hostile requests and hostile pages."""

import contextlib
import json
import shutil
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from tests.conftest import FAST, Run
from tests.waiting import PATIENCE
from tests.web.served import Served, running

EVIL = "</title><script>alert(1)</script>"
# Right to left override, zero width space, escape, a lone quote and an ampersand.
NASTY = "\u202egnp.\u202c \u200b \x1b[31m '\"&<b>"
MEANT = {"x-sanderling": "1"}


class Hostile(BaseHTTPRequestHandler):
    """Pages whose titles, addresses, types and charsets are meant to break something."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
            return
        kind, body = (
            "text/html; charset=utf-8",
            f"<title>&lt;script&gt;alert(2)&lt;/script&gt;{NASTY}</title><p>{NASTY}</p>",
        )
        if self.path == "/":
            links = ["/%3Cscript%3E'\"?a=<b>&amp;c=%00%0d%0aSet-Cookie:x", "/lie", "/svg", "/\u202epdf", "/js"]
            body += "".join(f'<a href="{link.replace(chr(34), "&quot;")}">{EVIL}</a>' for link in links)
        elif self.path == "/lie":
            kind = "text/html; charset=utf-16"
        elif self.path == "/svg":
            kind, body = "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>'
        elif self.path == "/js":
            kind, body = "text/javascript", "alert(4)"
        content = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Set-Cookie", "stolen=1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Path:
    home = tmp_path_factory.mktemp("hostile")
    site = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    thread = Thread(target=site.serve_forever, daemon=True)
    thread.start()
    ran = sanderling("crawl", f"http://127.0.0.1:{site.server_port}/", "-d", home / "evil", *FAST)
    assert ran.code == 0, ran.err
    site.shutdown()
    thread.join()
    site.server_close()
    return home


@pytest.fixture(scope="module")
def hostile(home: Path) -> Iterator[Served]:
    with running(home, "--allow-private") as server:
        yield server


def test_what_pages_say_stays_data(hostile: Served) -> None:
    pages = hostile.http.get("/api/v1/crawls/evil/pages").json()["items"]
    assert len(pages) >= 5
    for page in pages:
        path = f"/api/v1/crawls/evil/pages/{page['id']}"
        for each in (path, f"{path}/versions", f"{path}/links/out", f"{path}/links/in", f"{path}/blame"):
            answer = hostile.http.get(each)
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-type"] == "application/json"
            json.loads(answer.content)
        if page["visits"]:
            shown = hostile.http.get(f"{path}/diff", params={"format": "html"})
            assert shown.status_code == 200 and "<script" not in shown.text.lower()
    for path in ("/metrics", "/api/v1/crawls/evil/feed.atom"):
        assert b"<script" not in hostile.http.get(path).content.lower()


def test_archived_pages_cannot_run_or_set_anything(hostile: Served) -> None:
    versions = hostile.http.get("/api/v1/crawls/evil/changes?all=true").json()["items"]
    assert {each["mime"] for each in versions} >= {"text/html", "image/svg+xml"}
    for version in versions:
        shown = httpx.get(version["archive"], timeout=PATIENCE)
        assert shown.status_code == 200
        assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert "set-cookie" not in shown.headers and "access-control-allow-origin" not in shown.headers
        body = hostile.http.get(f"/api/v1/crawls/evil/versions/{version['number']}/body")
        assert body.headers["content-type"] == "application/octet-stream" and "set-cookie" not in body.headers
        text = hostile.http.get(f"/api/v1/crawls/evil/versions/{version['number']}/text")
        assert text.headers["content-type"].startswith("text/plain")


def test_patterns_that_explode_do_not(hostile: Served) -> None:
    fine = hostile.http.patch("/api/v1/crawls/evil/scope", json={"exclude": ["(a+)+$", "(.*a){20}"]}, headers=MEANT)
    assert fine.status_code == 200
    refused = hostile.http.patch("/api/v1/crawls/evil/scope", json={"exclude": ["((a{99}){99}){99}"]}, headers=MEANT)
    assert refused.status_code == 400 and "not a valid pattern" in refused.json()["detail"]
    assert hostile.http.patch("/api/v1/crawls/evil/scope", json={"exclude": None}, headers=MEANT).status_code == 200


def test_bodies_that_are_too_large_or_no_json(hostile: Served) -> None:
    http = hostile.http
    assert http.post("/api/v1/crawls", content=b"x" * (5 << 20), headers=MEANT).status_code == 413
    assert http.post("/api/v1/crawls", content=iter([b"{}"]), headers=MEANT).status_code == 411
    for content in (
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"seeds": "x"}',
        b'{"seeds": []}',
        b"[" * 100_000,
        b'{"seeds": [1e999]}',
    ):
        answer = http.post("/api/v1/crawls", content=content, headers={**MEANT, "content-type": "application/json"})
        assert answer.status_code in (400, 422), (content[:20], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"


def test_raw_nonsense_ends_only_its_own_connection(hostile: Served) -> None:
    address = ("127.0.0.1", int(hostile.url.rpartition(":")[2]))
    for nonsense in (
        b"\0" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"A" * 200_000,
    ):
        with socket.create_connection(address, PATIENCE) as line, contextlib.suppress(ConnectionError):
            line.sendall(nonsense)
            line.shutdown(socket.SHUT_WR)
            while line.recv(65536):
                pass
    assert hostile.http.get("/api/v1/crawls").status_code == 200


def test_damage_is_said_and_harms_no_other_crawl(home: Path, tmp_path: Path) -> None:
    for name in ("garbage", "without"):
        shutil.copytree(home / "evil", tmp_path / name)
    (tmp_path / "garbage" / "sanderling.db").write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    for suffix in ("-wal", "-shm"):
        (tmp_path / "garbage" / f"sanderling.db{suffix}").unlink(missing_ok=True)
    shutil.rmtree(tmp_path / "without" / "warc")
    with running(tmp_path) as server:
        assert server.http.get("/api/v1/crawls").status_code == 200
        broken = server.http.get("/api/v1/crawls/garbage/pages")
        assert broken.status_code in (409, 500) and "cannot be read" in broken.json()["detail"]
        missing = server.http.get("/api/v1/crawls/without/versions/1/body")
        assert missing.status_code == 409 and "is missing" in missing.json()["detail"]
        assert str(tmp_path) not in missing.text
        assert server.http.get("/api/v1/crawls/without/pages").status_code == 200
        assert server.http.get("/metrics").status_code == 200
