"""The server of the synthetic web, over real connections."""

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from sanderling.testing import DAY, ServedWeb, SyntheticWeb
from tests.waiting import PATIENCE, until

Get = Callable[[str], tuple[int, bytes]]


def fetcher(proxy: str | None = None) -> Get:
    handler = urllib.request.ProxyHandler({"http": proxy} if proxy else {})
    opener = urllib.request.build_opener(handler)

    def get(url: str) -> tuple[int, bytes]:
        try:
            with opener.open(url, timeout=PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    return get


def crawl(seeds: list[str], get: Get) -> set[str]:
    found, queue = set(seeds), list(seeds)
    while queue:
        url = queue.pop()
        status, body = get(url)
        assert status == 200
        for href in re.findall(r'<a href="([^"]*)"', body.decode()):
            link = urljoin(url, unescape(href))
            if link not in found:
                found.add(link)
                queue.append(link)
    return found


def conditional(site: ServedWeb, url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    where = urlsplit(url)
    connection = HTTPConnection(where.netloc, timeout=PATIENCE)
    connection.request("GET", where.path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    with connection.getresponse() as answer:
        result = answer.status, answer.read(), dict(answer.headers)
    connection.close()
    return result


def test_following_links_finds_exactly_the_reachable_pages() -> None:
    with SyntheticWeb(pages=60).serve() as site:
        found = crawl([site.url], fetcher())
        assert found == site.direct.reachable(0)
        assert dict(site.requests) == dict.fromkeys(found, 1)
        assert not site.robots_requests


def test_through_the_proxy_every_host_has_its_name() -> None:
    with SyntheticWeb(hosts=4, pages=80).serve() as site:
        found = crawl(site.seeds[:1], fetcher(site.proxy))
        assert found == site.web.reachable(0) == site.web.pages_at(0)
        assert set(site.seeds) <= found
        assert set(site.requests) == found
        assert fetcher(site.proxy)("http://host9.test/")[0] == 502
        assert fetcher(site.proxy)("http://elsewhere.example/robots.txt")[0] == 502


def test_many_hosts_directly() -> None:
    with SyntheticWeb(hosts=3, pages=45).serve() as site:
        assert crawl([site.url], fetcher()) == site.direct.pages_at(0)
        assert fetcher()(site.proxy + "/") == fetcher()(site.url), "the root leads to the first host"


def test_what_is_served_is_what_is_described_as_time_goes_by() -> None:
    web = SyntheticWeb(pages=50, change_rate=2, vanish=0.4, span=4 * DAY)
    get = fetcher()
    with web.serve() as site:
        pages = site.direct.pages_at(0)
        for _ in range(3):
            for url in pages:
                status, body = get(url)
                assert status == site.direct.status(url, site.clock.now)
                if status == 200:
                    assert body == site.direct.body(url, site.clock.now)
            site.clock.advance(2 * DAY)
        assert site.clock.now == 6 * DAY
        assert site.direct.pages_at(6 * DAY) != pages


def test_validators_save_the_body_until_the_page_changes() -> None:
    with SyntheticWeb(pages=20, change_rate=1, unchanging=0, rate_spread=0).serve() as site:
        status, body, headers = conditional(site, site.url)
        assert status == 200
        assert body
        tag, date = headers["ETag"], headers["Last-Modified"]
        for known in ({"If_None_Match": tag}, {"If_Modified_Since": date}, {"If_None_Match": f'"x", W/{tag}'}):
            assert conditional(site, site.url, **known)[:2] == (304, b"")
        assert conditional(site, site.url, If_None_Match='"other"', If_Modified_Since=date)[0] == 200
        assert conditional(site, site.url, If_Modified_Since="nonsense")[0] == 200
        site.clock.now = site.direct.changes(site.url, 0, 30 * DAY)[0].at
        assert conditional(site, site.url, If_None_Match=tag)[0] == 200
        status, fresh, headers = conditional(site, site.url, If_Modified_Since=date)
        assert status == 200
        assert fresh != body
        assert headers["ETag"] != tag


def test_without_validators() -> None:
    with SyntheticWeb().serve(validators=False) as site:
        headers = conditional(site, site.url)[2]
        assert "ETag" not in headers
        assert "Last-Modified" not in headers


def test_robots_sitemap_and_images_are_counted_apart() -> None:
    web = SyntheticWeb(pages=30)
    with web.serve(robots="User-agent: *\nDisallow: /private\n") as site:
        get = fetcher()
        assert get(site.proxy + "/robots.txt") == (200, b"User-agent: *\nDisallow: /private\n")
        locations = ElementTree.fromstring(get(site.proxy + "/sitemap.xml")[1]).findall(".//{*}loc")
        assert {location.text for location in locations} == site.direct.pages_at(0)
        status, picture = get(site.direct.images_at(site.url, 0)[0])
        assert status == 200
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert get(site.proxy + "/img/nothing.png")[0] == 404
        assert site.robots_requests.total() == 1
        assert site.other_requests.total() == 3
        assert site.requests.total() == 0
    with web.serve(robots_status=503) as site:
        assert fetcher()(site.proxy + "/robots.txt")[0] == 503


def test_big_hosts_have_a_sitemap_index() -> None:
    with SyntheticWeb(pages=4500, appear=0).serve() as site:
        get = fetcher()
        found: set[str | None] = set()
        for part in ElementTree.fromstring(get(site.proxy + "/sitemap.xml")[1]).findall(".//{*}loc"):
            document = ElementTree.fromstring(get(str(part.text))[1])
            found |= {location.text for location in document.findall(".//{*}loc")}
        assert found == site.direct.pages_at(0)
        assert get(site.proxy + "/sitemap-9.xml")[0] == 404


def test_keep_alive_head_pipelining_and_wrong_methods() -> None:
    with SyntheticWeb().serve(record=True) as site:
        where = urlsplit(site.url).netloc
        connection = HTTPConnection(where, timeout=PATIENCE)
        for _ in range(3):
            connection.request("HEAD", "/")
            with connection.getresponse() as answer:
                assert answer.read() == b""
                assert int(answer.headers["Content-Length"]) == len(site.direct.body(site.url, 0))
            kept = connection.sock
        assert connection.sock is kept is not None
        connection.request("POST", "/", body=b"x")
        with connection.getresponse() as answer:
            assert answer.status == 405
        connection.close()
        with socket.create_connection(where.split(":"), timeout=PATIENCE) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.0\r\n\r\n")
            assert raw.makefile("rb").read().count(b"HTTP/1.1 200") == 2
        assert [visit.status for visit in site.visits] == [200, 200, 200, 405, 200, 200]


def test_three_hundred_slow_answers_at_once() -> None:
    with SyntheticWeb(latency=0.2).serve() as site:
        site.hold()
        where = urlsplit(site.url)
        began = time.monotonic()
        raws = [socket.create_connection((where.hostname, where.port), timeout=PATIENCE) for _ in range(300)]
        for raw in raws:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        until(lambda: site.held == 300)
        site.release()
        for raw in raws:
            assert raw.makefile("rb").read().startswith(b"HTTP/1.1 200")
            raw.close()
        assert time.monotonic() - began >= 0.2
        assert site.peak_in_flight == 300
        assert site.in_flight == 0
        assert site.requests.total() == 300


def test_what_is_held_waits_until_it_may_pass() -> None:
    with SyntheticWeb(pages=5).serve(record=True) as site, contextlib.ExitStack() as lines:
        site.hold(after=1)
        where = urlsplit(site.url)
        raws = [
            lines.enter_context(socket.create_connection((where.hostname, where.port), timeout=PATIENCE))
            for _ in range(4)
        ]
        for number, raw in enumerate(raws):
            raw.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
            until(lambda number=number: site.held == number + 1)  # of the first, the second request
        assert fetcher()(site.proxy + "/robots.txt")[0] == 200
        assert [visit.url for visit in site.visits] == [site.url, site.proxy + "/robots.txt"]
        raws[3].close()
        until(lambda: site.held == 3)
        site.hold(after=2)
        until(lambda: site.requests.total() == 6)
        assert (site.held, len(site.visits)) == (2, 5)  # one has had both its answers, two wait for their second
        site.release()
        until(lambda: not site.in_flight)
        assert Counter(visit.status for visit in site.visits) == {200: 7, 0: 1}


def test_a_client_that_leaves_is_not_in_flight_any_more() -> None:
    with SyntheticWeb(latency=PATIENCE).serve(record=True) as site:
        where = urlsplit(site.url)
        with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            until(lambda: site.in_flight == 1)
        until(lambda: site.in_flight == 0)
        assert [visit.status for visit in site.visits] == [0]
        assert site.peak_by_host.total() == 1


@pytest.mark.parametrize("line", [b"GET http://[ HTTP/1.1", b"CONNECT a:443 HTTP/1.1", b"GET", b"\xff\xfe", b""])
def test_nonsense_gets_an_answer_that_says_no(line: bytes) -> None:
    with SyntheticWeb().serve() as site:
        where = urlsplit(site.url)
        with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as raw:
            raw.sendall(line + b"\r\nConnection: close\r\n\r\n")
            assert raw.makefile("rb").read().split()[1] in (b"405", b"502")


def test_a_running_clock() -> None:
    with SyntheticWeb().serve(speed=1000) as site:
        until(lambda: site.clock.now > 50)
        before = time.monotonic()
        site.clock.now = 5.0
        assert 5 <= site.clock.now <= 5 + 1000 * (time.monotonic() - before)


def test_a_taken_port_is_an_error_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with SyntheticWeb().serve() as site, pytest.raises(OSError):
        SyntheticWeb().serve(port=int(site.proxy.rsplit(":", 1)[1])).__enter__()
    assert not set(threading.enumerate()) - before


def test_the_command_serves_until_it_is_stopped() -> None:
    command = [sys.executable, "-m", "sanderling.testing", "--hosts", "2", "--pages", "10"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        first = running.stdout.readline()
        assert fetcher()(first.split()[-1])[0] == 200
        running.terminate()
        assert "Served 1 page requests." in running.stdout.read()
        assert running.wait(timeout=PATIENCE) == 0


def test_the_command_refuses_nonsense_in_one_sentence() -> None:
    command = [sys.executable, "-m", "sanderling.testing", "--hosts", "5", "--pages", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
