"""Archived pages: on another origin, with nothing that runs, for those with a link."""

import asyncio
from pathlib import Path

import httpx
import turbohtml

from sanderling.web.sandbox import create_sandbox
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer
from tests.web.test_pages import attribute

SECURITY = Security(port=8080, archive_port=8081)


def get(home: Path, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    shelf = Shelf([home])

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_sandbox(shelf, SECURITY))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8081") as client:
            return await client.get(path, headers=headers)

    try:
        return asyncio.run(ask())
    finally:
        shelf.close_idle(0)


def test_a_version_is_shown_as_it_was_and_confined(crawled: Path) -> None:
    shown = get(crawled, SECURITY.archive_link("", "small", 1))
    assert shown.status_code == 200 and b"<html" in shown.content.lower()
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("sandbox;") and "default-src 'none'" in policy and "allow-scripts" not in policy
    assert "frame-ancestors http://localhost:8080" in policy
    assert "set-cookie" not in shown.headers and shown.headers["x-content-type-options"] == "nosniff"


def test_links_of_archived_pages_lead_to_archived_pages(sanderling: Run, tmp_path: Path) -> None:
    home = b"<base href=/in/><h1>Home</h1><a href=a target=_blank>a</a> <a href='#here'>here</a> <a href=none>none</a>"
    with PageServer({"/": home, "/in/a": lambda n: b"<p>said once" if n == 1 else b"<p>says now"}) as server:
        sanderling("crawl", server.origin + "/", "-d", tmp_path / "small", *FAST)
        sanderling("crawl", "-d", tmp_path / "small", "--again")
    url = server.origin + "/in/a"
    first = get(tmp_path, SECURITY.archive_link("", "small", 1))
    assert f"Archived copy of {server.origin}/ from 20" in first.text
    live, to_a, here, to_none = (attribute(each, "href") for each in turbohtml.parse(first.text).find_all("a"))
    assert live == f"{server.origin}/"
    assert here == "#here" and "_blank" not in first.text
    led = get(tmp_path, to_a)
    assert led.status_code == 302
    shown = get(tmp_path, led.headers["location"])
    assert "said once" in shown.text and f"Archived copy of {url}" in shown.text
    later, _ = (attribute(each, "href") for each in turbohtml.parse(shown.text).find_all("a"))
    newest = get(tmp_path, later)
    earlier, changed, _ = (attribute(each, "href") for each in turbohtml.parse(newest.text).find_all("a"))
    assert "says now" in newest.text and "said once" in get(tmp_path, earlier).text
    assert changed.startswith("http://localhost:8080/crawls/small/pages/") and changed.endswith("/diff?a=1&b=2")
    missing = get(tmp_path, to_none, {"accept": "text/html"})
    assert missing.status_code == 404 and f"there is no copy of {server.origin}/in/none in this crawl" in missing.text
    assert get(tmp_path, to_a.replace("in%2Fa", "in%2Fb")).status_code == 404  # only links of ours
    lost = get(tmp_path, "/in/a", {"accept": "text/html"})
    assert lost.status_code == 404 and "there is no archived page at this address" in lost.text


def test_only_with_a_link_of_ours(crawled: Path) -> None:
    link = SECURITY.archive_link("", "small", 1)
    assert get(crawled, link.replace("/small/1", "/small/2")).status_code == 404
    assert get(crawled, "/small/1").status_code == 422
    assert get(crawled, link.replace("until=", "until=9")).status_code == 404
    assert get(crawled, link[:-1] + ("0" if link[-1] != "0" else "1")).status_code == 404
    assert get(crawled, SECURITY.archive_link("", "small", 999_999)).status_code == 404
    assert get(crawled, link, {"host": "evil.example"}).status_code == 421
    assert get(crawled, "/").status_code == 404
    late = get(crawled, "/small/1?until=1&key=x", {"accept": "text/html"})
    assert late.status_code == 404 and "<p>this link has expired" in late.text  # a browser gets a sentence
    assert late.headers["content-security-policy"].startswith("sandbox;")
    assert "<b>" not in get(crawled, "/small/<b>?until=1&key=x", {"accept": "text/html"}).text


def test_a_page_is_shown_with_the_files_of_its_time(sanderling: Run, tmp_path: Path) -> None:
    home = (
        b"<script>1</script><meta http-equiv=refresh content='0; url=/out'><link rel=stylesheet href=a.css integrity=x>"
        b"<img srcset='b.png 2x, none.png 3x'><a href='javascript:go()'>x</a><form action=/post></form>"
        b"<svg><use href='sprite.svg#dot'/></svg><p>Text"
    )
    picture, sprite = (
        Answer(b"\x89PNG", "image/png"),
        Answer(b"<svg><symbol id=dot><rect/></symbol></svg>", "image/svg+xml"),
    )
    table = {
        "/": lambda n: home if n < 3 else home + b" that is new", "/b.png": picture, "/sprite.svg": sprite,
        "/a.css": lambda n: Answer(b"p { background: url(b.png) } /* %d */" % min(n, 2), "text/css"),
    }  # fmt: skip
    with PageServer(table) as server:
        crawl = ("crawl", server.origin + "/", "-d", tmp_path / "small", "--requisites", "--render", "never", *FAST)
        sanderling(*crawl)
        sanderling("crawl", "-d", tmp_path / "small", "--again")
    shown = get(tmp_path, SECURITY.archive_link("", "small", 1)).text
    for gone in ("<script", "refresh", "integrity", "javascript:", "/post", server.origin + "/a.css"):
        assert gone not in shown.partition('role="note"')[2].partition("</div>")[2], gone
    document = turbohtml.parse(shown)
    sheet = attribute(document.find("link"), "href")
    found = get(tmp_path, sheet)
    assert (
        found.headers["content-type"] == "text/css; charset=utf-8"
        and found.headers["access-control-allow-origin"] == "*"
    )
    assert "/* 1 */" in found.text or "/* 2 */" in found.text
    inside = found.text.partition('url("')[2].partition('"')[0]
    assert get(tmp_path, inside).content == b"\x89PNG"
    assert get(tmp_path, inside, {"range": "bytes=1-2"}).content == b"PN"
    pictures = [each.split()[0] for each in attribute(document.find("img"), "srcset").split(", ")]
    assert [get(tmp_path, each).status_code for each in pictures] == [200, 404]
    assert attribute(document.find("use"), "href") == "#sprite-0-dot" and 'id="sprite-0-dot"' in shown
    assert get(tmp_path, sheet.replace("a.css", "b.png")).status_code == 404  # only links of ours
