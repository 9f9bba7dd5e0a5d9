"""Each fault behaves as its docstring says, seen from a raw socket."""

import gzip
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from sanderling.testing import FaultServer
from sanderling.testing.faults.exchange import FAULTS
from tests.waiting import PATIENCE, until

WITHOUT_END = {"hang", "slow-headers", "slow-body", "endless", "endless-chunks", "header-flood"}
WITHOUT_ANSWER = {"reset", "reset-midway", "drop", "not-http", "flaky-reset"}


@pytest.fixture(scope="module")
def faults() -> Iterator[FaultServer]:
    with FaultServer(pace=0.02) as server:
        yield server


def connect(server: FaultServer, name: str, *headers: str) -> socket.socket:
    where = urlsplit(server.url(name) if not name.startswith("/") else server.origin + name)
    raw = socket.create_connection((where.hostname, where.port), timeout=PATIENCE)
    target = where.path + ("?" + where.query if where.query else "")
    lines = [f"GET {target} HTTP/1.1", "Host: faults", "Connection: close", *headers]
    raw.sendall("\r\n".join([*lines, "", ""]).encode())
    return raw


def everything(server: FaultServer, name: str, *headers: str) -> bytes:
    with connect(server, name, *headers) as raw, raw.makefile("rb") as stream:
        return stream.read()


def split(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    start, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = start.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split()[1]), headers, body


def fetch(server: FaultServer, name: str, *headers: str) -> tuple[int, dict[str, str], bytes]:
    return split(everything(server, name, *headers))


def test_every_fault_is_documented_and_linked_from_the_front_page(faults: FaultServer) -> None:
    page = fetch(faults, "")[2].decode()
    for fault in FAULTS.values():
        assert FaultServer.names[fault.name] == fault.sentence
        assert fault.sentence.endswith(".")
        assert f'href="/{fault.example}"' in page
        assert faults.url(fault.example).endswith(fault.example)
    with pytest.raises(LookupError):
        faults.url("no-such-fault")
    assert fetch(faults, "/no-such-fault")[0] == 404


@pytest.mark.parametrize(
    "name", [fault.example for name, fault in FAULTS.items() if name not in WITHOUT_END | WITHOUT_ANSWER]
)
def test_all_others_answer_and_end(faults: FaultServer, name: str) -> None:
    status, _, body = fetch(faults, name)
    assert 200 <= status < 600
    assert len(body) < 60_000_000


def test_reset(faults: FaultServer) -> None:
    with pytest.raises(ConnectionResetError):
        everything(faults, "reset")
    with connect(faults, "reset-midway") as raw:
        assert b"200" in raw.recv(100_000)
        with pytest.raises(ConnectionResetError):
            raw.recv(100_000)


def test_drop_and_other_languages(faults: FaultServer) -> None:
    assert everything(faults, "drop") == b""
    assert not everything(faults, "not-http").startswith(b"HTTP")


def test_hang(faults: FaultServer) -> None:
    with connect(faults, "hang") as raw:
        raw.settimeout(0.2)
        with pytest.raises(TimeoutError):
            raw.recv(1)


@pytest.mark.parametrize("name", ["slow-headers", "slow-body"])
def test_slow(faults: FaultServer, name: str) -> None:
    """No byte comes before its time, and one always comes."""
    began = time.monotonic()
    with connect(faults, name) as raw:
        got = b""
        while len(dripped := got.partition(b"\r\n\r\n")[2] if name == "slow-body" else got) < 10:
            more = raw.recv(100_000)
            assert more
            got += more
        assert len(dripped) <= 1 + (time.monotonic() - began) / faults.pace


@pytest.mark.parametrize("name", ["endless", "endless-chunks", "header-flood"])
def test_without_end(faults: FaultServer, name: str) -> None:
    """After 20 MB the body still continues. The headers of the flood do not end either, and other
    requests are answered."""
    total = 0
    with connect(faults, name) as raw:
        while total < 20_000_000:
            data = raw.recv(1 << 20)
            assert data
            assert name != "header-flood" or b"\r\n\r\n" not in data
            total += len(data)
        assert fetch(faults, "ok")[0] == 200


def test_lengths_that_lie(faults: FaultServer) -> None:
    _, headers, body = fetch(faults, "short")
    assert int(headers["content-length"]) == len(body) + 10
    assert everything(faults, "two-lengths").count(b"Content-Length") == 2
    assert b"\r\nzz;no\r\n" in fetch(faults, "broken-chunk")[2]
    assert not fetch(faults, "cut-chunk")[2].endswith(b"0\r\n\r\n")


def test_compression(faults: FaultServer) -> None:
    for name in ("gzip-bomb", "sitemap-bomb.xml.gz"):
        body = fetch(faults, name)[2]
        assert len(body) < 200_000
        assert inflated(body, 31) > 100_000_000
    assert inflated(fetch(faults, "deflate-bomb")[2], 15) > 100_000_000
    nested = fetch(faults, "nested-gzip-bomb")[2]
    assert len(nested) < 2000
    assert inflated(gzip.decompress(nested), 31) > 100_000_000
    assert b"<p>" in gzip.decompress(gzip.decompress(fetch(faults, "nested-gzip")[2]))
    for name in ("broken-gzip", "not-gzip"):
        with pytest.raises((OSError, EOFError, zlib.error)):
            gzip.decompress(fetch(faults, name)[2])
    reader = zlib.decompressobj(31)
    assert b"</html>" in reader.decompress(fetch(faults, "gzip-trailing-garbage")[2])
    assert reader.unused_data.startswith(b"garbage")


def inflated(body: bytes, window: int) -> int:
    reader = zlib.decompressobj(window)
    total = len(reader.decompress(body, 1 << 20))
    while reader.unconsumed_tail:
        total += len(reader.decompress(reader.unconsumed_tail, 1 << 20))
    return total


def test_statuses_and_recovery(faults: FaultServer) -> None:
    assert [fetch(faults, f"status/{n}")[0] for n in (204, 404, 410, 500)] == [204, 404, 410, 500]
    assert [fetch(faults, "flaky/3")[0] for _ in range(5)] == [503, 503, 503, 200, 200]
    answers = [fetch(faults, "retry-after/1/7") for _ in range(2)]
    assert [status for status, _, _ in answers] == [429, 200]
    assert answers[0][1]["retry-after"] == "7"
    with pytest.raises(ConnectionResetError):
        everything(faults, "flaky-reset/1")
    assert fetch(faults, "flaky-reset/1")[0] == 200
    assert faults.requests["/flaky/3"] == 5


def location(faults: FaultServer, name: str) -> tuple[int, str]:
    status, headers, _ = fetch(faults, name)
    return status, headers.get("location", "")


def test_redirects(faults: FaultServer) -> None:
    name, hops = "redirect/4", 0
    while (found := location(faults, name))[0] == 302:
        name, hops = found[1].lstrip("/"), hops + 1
    assert (name, hops) == ("page/ok", 4)
    assert location(faults, "redirect-loop") == (302, "/redirect-loop/back")
    assert location(faults, "redirect-loop/back") == (302, "/redirect-loop")
    assert location(faults, "redirect-self") == (302, "/redirect-self")
    assert location(faults, "redirect-endless/8") == (302, "/redirect-endless/9")
    assert location(faults, "redirect-to-file") == (302, "file:///etc/passwd")
    assert location(faults, "redirect-no-location") == (302, "")
    for status in (301, 308):
        assert location(faults, f"redirect-permanent/{status}")[0] == status
    for status in (302, 303, 307):
        assert location(faults, f"redirect-temporary/{status}")[0] == status


def test_private_addresses(faults: FaultServer) -> None:
    page = fetch(faults, "links-to-private")[2].decode()
    for kind, url in faults.private.items():
        assert location(faults, f"redirect-to-private/{kind}") == (302, url)
        assert url in page
    assert faults.private["decimal"].startswith("http://2130706433:")
    assert {"metadata", "mapped", "hex", "zero", "loopback"} <= set(faults.private)


def test_the_other_port_keeps_what_it_receives() -> None:
    with FaultServer() as server:
        target = urlsplit(location(server, "redirect-cross-origin")[1])
        assert not server.received
        with socket.create_connection((target.hostname, target.port), timeout=PATIENCE) as raw:
            raw.sendall(f"GET {target.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eA==\r\n\r\n".encode())
            assert b"200" in raw.recv(1000)
        (seen,) = server.received
        assert (seen.method, seen.path, seen.headers["authorization"]) == ("GET", "/landing", "Basic eA==")
        assert "/landing" not in server.requests


def test_markup(faults: FaultServer) -> None:
    assert fetch(faults, "deep-html")[2].count(b"<div>") == 100_000
    line = fetch(faults, "long-line")[2]
    assert len(line) > 50_000_000
    assert b"\n" not in line
    assert b"/page/ok" in line[-100:]
    assert fetch(faults, "million-links")[2].count(b"<a href") == 1_000_000
    assert b"\0" in fetch(faults, "nul-bytes")[2]
    assert b"&l8;" * 10 in fetch(faults, "xml-bomb")[2]
    assert b"file:///etc/passwd" in fetch(faults, "xml-external-entity")[2]
    assert fetch(faults, "xml-deep")[2].count(b"<a>") == 100_000


def test_charsets(faults: FaultServer) -> None:
    _, headers, body = fetch(faults, "latin1-labelled-utf8")
    assert headers["content-type"].endswith("utf-8")
    with pytest.raises(UnicodeDecodeError):
        body.decode()
    _, headers, body = fetch(faults, "bom-conflict")
    assert headers["content-type"].endswith("iso-8859-1")
    assert "Café" in body.decode("utf-8-sig")
    with pytest.raises(UnicodeDecodeError):
        fetch(faults, "invalid-utf8")[2].decode()
    assert "Café" in fetch(faults, "utf16")[2].decode("utf-16")
    assert b"<title>\x1b]0;" in fetch(faults, "control-characters")[2]
    assert "\u202e" in fetch(faults, "bidi")[2].decode()


def test_pictures(faults: FaultServer) -> None:
    bomb = fetch(faults, "pixel-bomb.png")[2]
    width, height = struct.unpack(">II", bomb[16:24])
    assert width * height >= 900_000_000
    assert len(bomb) < 200_000
    whole, cut = fetch(faults, "image.png")[2], fetch(faults, "truncated.png")[2]
    assert whole.startswith(cut)
    assert whole.endswith(b"IEND\xaeB`\x82")
    assert b"IEND" not in cut
    assert fetch(faults, "lying-type")[1]["content-type"] == "image/png"


def test_memory(faults: FaultServer) -> None:
    assert fetch(faults, "cookie-set")[1]["set-cookie"].startswith("flavour=oatmeal")
    assert fetch(faults, "cookie-echo", "Cookie: flavour=oatmeal")[2] == b"flavour=oatmeal"
    assert everything(faults, "cookies-many").count(b"Set-Cookie") == 2000
    assert json.loads(fetch(faults, "echo", "X-Seen: yes")[2])["headers"]["X-Seen"] == "yes"
    tag = fetch(faults, "etag")[1]["etag"]
    assert fetch(faults, "etag", f"If-None-Match: {tag}")[::2] == (304, b"")
    date = fetch(faults, "last-modified")[1]["last-modified"]
    assert fetch(faults, "last-modified", f"If-Modified-Since: {date}")[0] == 304
    assert fetch(faults, "same") == fetch(faults, "same")
    assert fetch(faults, "counter")[2] != fetch(faults, "counter")[2]


def test_traps_go_on(faults: FaultServer) -> None:
    assert b"/trap-calendar/13" in fetch(faults, "trap-calendar/12")[2]
    assert b'"deeper/"' in fetch(faults, "trap-path/deeper/deeper/")[2]
    assert b"colour=red&amp;size=big" in fetch(faults, "/trap-query?colour=red")[2]
    assert fetch(faults, "trap-session")[2] != fetch(faults, "trap-session")[2]


def test_robots() -> None:
    with FaultServer("disallow") as server:

        def ask(behaviour: str) -> tuple[int, dict[str, str], bytes]:
            server.robots = behaviour
            return fetch(server, "/robots.txt")

        assert ask("disallow")[2] == b"User-agent: *\nDisallow: /\n"
        assert ask("allow")[2] == b"User-agent: *\nDisallow:\n"
        assert [ask(name)[0] for name in ("500", "429", "missing", "redirect-loop")] == [500, 429, 404, 302]
        assert b"<html" in ask("html")[2]
        assert len(ask("huge")[2]) > 590 * 1024
        assert ask("User-agent: me\nDisallow: /x\n")[2] == b"User-agent: me\nDisallow: /x\n"
        server.robots = "timeout"
        with connect(server, "/robots.txt") as raw:
            until(lambda: server.requests["/robots.txt"] == 10)
            raw.settimeout(0.2)
            with pytest.raises(TimeoutError):
                raw.recv(1)


def test_works_as_a_proxy(faults: FaultServer) -> None:
    where = urlsplit(faults.url())
    with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as raw:
        raw.sendall(b"GET http://any.test/page/ok HTTP/1.1\r\nHost: any.test\r\n\r\n")
        assert b"200" in raw.recv(1000)


def test_closing_ends_what_still_hangs() -> None:
    before = set(threading.enumerate())
    names = ("hang", "slow-body", "endless")
    with FaultServer() as server:
        raws = [connect(server, name) for name in names]
        until(lambda: all(server.requests[f"/{name}"] for name in names))
    assert not set(threading.enumerate()) - before
    for raw in raws:
        raw.close()
