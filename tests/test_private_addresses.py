"""Private addresses are refused when a connection is opened, whatever led there."""

import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import pycurl
import pytest

from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request, refused
from sanderling.client.loop import Loop
from sanderling.model.reasons import code_of
from sanderling.settings import Settings
from sanderling.testing import FaultServer
from tests.conftest import FAST
from tests.own_network import seen_by
from tests.servers import Answer, PageServer, links, redirect
from tests.waiting import until


def test_private_addresses_when_asked_for(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with FaultServer() as faults:
        url = faults.url("redirect-to-private/hex")
        ran = sanderling(
            "crawl", url, *FAST, "--scope", "any", "--max-depth", 0, "-d", tmp_path / "c", "--allow-private"
        )
        assert ran.code == 0
        assert [request.path for request in faults.received] == ["/robots.txt", "/private/hex"]


def test_robots_that_lead_inside(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with FaultServer() as inside, PageServer({"/": b"page"}) as server:
        server.table["/robots.txt"] = redirect(f"{inside.other_origin}/robots.txt")
        sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--retries", 0)
        assert not inside.received
        (row,) = sanderling("pages", tmp_path / "c", "--json").lines
        assert row["state"] == "failed"
        assert "robots.txt could not be read: leads to the private address 127.0.0.1" in row["reason"]


def test_private_addresses_in_every_place_that_names_a_url(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Links, frames, canonical, alternate, base, refresh, pictures, form action, sitemaps, feeds,
    robots, redirects.
    """
    with FaultServer() as inside, PageServer({}) as server:
        to = inside.other_origin
        head = (
            f'<link rel=canonical href="{to}/canonical"><link rel=alternate hreflang=de href="{to}/alternate">'
            f'<link rel=next href="{to}/next"><meta http-equiv=refresh content="9; url={to}/refresh">'
        )
        body = (
            f'<iframe src="{to}/frame"></iframe><area href="{to}/area"><img src="{to}/picture.png" srcset="{to}/set.png 2x">'
            f'<form action="{to}/form"><button></form><a href="{to}/link">x</a>'
        )
        server.table |= {
            "/": f"<html><head>{head}</head>{body}".encode() + links("/based", "/feed", "/moved", "/sitemap.xml"),
            "/based": f'<base href="{to}/below/">'.encode() + links("relative"),
            "/feed": Answer(f"<rss><channel><item><link>{to}/item</link></item></channel></rss>".encode(), "text/xml"),
            "/moved": redirect(f"{to}/moved"),
            "/sitemap.xml": Answer(f"<urlset><url><loc>{to}/loc</loc></url></urlset>".encode(), "application/xml"),
            "/index.xml": Answer(
                f"<sitemapindex><sitemap><loc>{to}/s.xml</loc></sitemap></sitemapindex>".encode(), "text/xml"
            ),
            "/robots.txt": Answer(
                f"Sitemap: {to}/named.xml\nSitemap: {server.origin}/sitemap.xml\nSitemap: {server.origin}/index.xml\n".encode(),
                "text/plain",
            ),
        }
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--scope", "any", "--images")
        assert ran.code == 0, ran.err
        rows = sanderling("pages", tmp_path / "c", "--json", "--state", "failed").lines
        assert not inside.received
        refused = {row["url"].removeprefix(to) for row in rows if "private address 127.0.0.1" in row["reason"]}
    places = {
        "/frame",
        "/area",
        "/picture.png",
        "/link",
        "/next",
        "/refresh",
        "/below/relative",
        "/item",
        "/moved",
        "/loc",
    }
    assert places <= refused
    assert "/form" not in refused


def test_a_name_that_resolves_inside(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    name = socket.gethostname()
    try:
        addresses = {each[4][0] for each in socket.getaddrinfo(name, None)}
    except OSError:
        pytest.skip("this machine's own name does not resolve")
    with FaultServer() as inside, PageServer({}) as server:
        port = inside.other_origin.rpartition(":")[2]
        server.table["/"] = links(f"http://{name}:{port}/a", f"http://{name}:{port}/b")
        sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--scope", "any")
        rows = sanderling("pages", tmp_path / "c", "--json", "--state", "failed").lines
        assert not inside.received
    assert len(rows) == 2
    assert all(row["reason"].removeprefix("leads to the private address ") in addresses for row in rows)


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "::1", "0.0.0.0", "169.254.169.254"])
def test_dns_that_points_inside_is_found_out_when_connecting(address: str) -> None:
    """Whatever a name resolved to before, only the address of the connection counts."""
    with FaultServer() as inside, closing(Loop()) as loop, closing(CurlFetcher(Settings(), loop)) as fetcher:
        port = inside.other_origin.rpartition(":")[2]
        handle = fetcher._new_handle(False)
        handle.curl.setopt(pycurl.RESOLVE, [f"harmless.example:{port}:{address}"])
        fetcher._idle[False].append(handle)
        request = Request(f"http://harmless.example:{port}/x", trusted=False, limit=1000)
        assert refused(request, Settings()) == ""
        fetcher.start(request)
        (over,) = until(lambda: loop.wait(0.1) or fetcher.finished())
        assert over.hopeless
        assert code_of(over.error) == "private-address"
        assert not inside.received


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `tests.moving_names` saw, in a network of its own."""
    return seen_by("tests.moving_names", tmp_path_factory.mktemp("moving"))


def test_a_seed_is_trusted_only_where_it_was_when_it_was_named(moving: Any) -> None:
    public, private, other = "93.184.216.34", "127.0.0.5", "127.0.0.6"
    assert moving["moved"] == [
        ["public", public, [public], 0],
        ["public", private, [], 0],
        ["inside", private, [private], 0],
        ["inside", other, [], 0],
        ["inside", other, [other], 0],  # with --allow-private
    ]


def test_what_a_rendered_page_asks_for_does_not_follow_a_name_inside(moving: Any) -> None:
    if "rendered" not in moving:
        pytest.skip("no Chromium is installed")
    assert moving["rendered"] == ["93.184.216.34"]


def test_names_that_lead_inside_through_a_proxy(moving: Any) -> None:
    asked, said = moving["http"]
    assert asked == ["http://outside.example/", "http://start.example/", "http://unknown.example/"]
    assert "which may not be what the proxy's says" in said
    asked, said = moving["socks5"]
    assert asked == ["93.184.216.34"]
    assert "the proxy resolves host names" not in said
    asked, said = moving["socks5h"]
    assert asked == ["inside.example", "outside.example", "start.example", "unknown.example"]
    assert "which cannot be seen from here" in said
