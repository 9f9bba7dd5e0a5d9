"""How pages are fetched: protocols, encodings, redirects, proxies, and what pages ask of
crawlers."""

import asyncio
import gzip
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import brotli
import hypercorn
import hypercorn.asyncio
import pycurl
import pytest
import trustme

from sanderling.client.body_memory import BodyMemory
from sanderling.client.curl_fetcher import JOINED_AT, Handle
from sanderling.client.fetcher import Request
from tests.conftest import FAST, Run, listed, stored_urls
from tests.papers import pdf, word
from tests.servers import Answer, PageServer, Socks, ftp, gopher, links, listening, redirect

# ---- one site with many features


class Site:
    def __init__(self, server: PageServer, sanderling: Any, folder: Path) -> None:
        self.folder = folder
        self.asked = list(server.asked)
        self.pages = listed(sanderling, folder)
        self.excluded = listed(sanderling, folder, "--state", "excluded")
        self.paths = {each.url for each in server.asked}


def encoded(name: str, pack: Any) -> Answer:
    return Answer(pack(b"<title>packed</title>" + links(f"/from-{name}")), headers=(("Content-Encoding", name),))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


FORBIDDEN = (("X-Robots-Tag", "otherbot: none"), ("X-Robots-Tag", "noindex, nofollow"))


@pytest.fixture(scope="module")
def site(sanderling, tmp_path_factory: pytest.TempPathFactory) -> Site:  # type: ignore[no-untyped-def]
    with PageServer({}) as server:
        here = server.origin
        pages: dict[str, bytes | Answer] = {
            "/gzip": encoded("gzip", gzip.compress),
            "/deflate": encoded("deflate", zlib.compress),
            "/raw-deflate": encoded("deflate", raw_deflate),
            "/brotli": encoded("br", brotli.compress),
            **{f"/permanent/{status}": redirect("/moved", status) for status in (301, 308)},
            **{f"/temporary/{status}": redirect("/elsewhere", status) for status in (302, 303, 307)},
            "/hops": redirect("/hops/1"),
            "/hops/1": redirect("/hops/2", 301),
            "/hops/2": b"there",
            "/to/latin-1": redirect("/caf\xe9"),
            "/to/utf-8": redirect("/caf\xc3\xa9"),
            "/refresh": b'<meta http-equiv=Refresh content="0; URL=refreshed">',
            "/frames": b"<frameset><frame src=frame></frameset>",
            "/latin-1": Answer('<a href="/search?q=\xe9">'.encode("latin-1"), "text/html; charset=iso-8859-1"),
            "/inline": b"<iframe src=inline-frame></iframe><map><area href=area></map><link rel=next href=next>",
            "/nofollow": b'<a rel="nofollow" href="/not-1">no</a><a href="/yes-1">yes</a>',
            "/meta": b'<meta name=robots content="noindex,nofollow"><a href="/not-2">no</a>',
            "/meta-other": b'<meta name=otherbot content="none"><a href="/yes-2">yes</a>',
            "/meta-named": b'<meta name=Tester content="none"><a href="/not-5">no</a>',
            "/header-named": Answer(links("/not-6"), headers=(("X-Robots-Tag", "tester: none"),)),
            "/header": Answer(links("/not-3"), headers=FORBIDDEN),
            "/header.pdf": Answer(pdf("secret", f"{here}/not-4"), "application/pdf", headers=FORBIDDEN),
            "/paper.pdf": Answer(pdf("Hello", f"{here}/from-pdf"), "application/octet-stream"),
            "/letter.docx": Answer(word("Hello", "A letter", f"{here}/from-docx"), "application/octet-stream"),
            "/feed": Answer(b"<rss><channel><item><link>/from-feed</link></item></channel></rss>", "text/xml"),
            "/film": Answer(b"film" * 3_000_000, "Video/MP4; codecs=x"),
            "/long": b"<title>Long</title>" + b"<p>and so on</p>" * 50_000 + links("/behind-the-cap"),
            "/cookie": Answer(b"have one", headers=(("Set-Cookie", "a=b; Path=/"),)),
            "/gone": Answer(b"", status=410),
        }
        server.table.update(dict.fromkeys((
            "/from-gzip", "/from-deflate", "/from-br", "/moved", "/elsewhere", "/refreshed", "/frame", "/inline-frame",
            "/area", "/next", "/yes-1", "/yes-2", "/from-pdf", "/from-docx", "/from-feed",
        ), b"fine"))  # fmt: skip
        server.table.update(pages)
        server.table["/"] = links(*pages)
        folder = tmp_path_factory.mktemp("site") / "crawl"
        ran = sanderling(
            "crawl", here, "-d", folder, *FAST, "--skip-types", "video/", "--max-body", "256KiB",
            "--user-agent", "Tester/2.0", "--contact", "mailto:me@example.org", "--clients", 1,
        )  # fmt: skip
        assert ran.code == 0, ran.err
        return Site(server, sanderling, folder)


@pytest.mark.parametrize(
    ("path", "then"), [("gzip", "gzip"), ("deflate", "deflate"), ("raw-deflate", "deflate"), ("brotli", "br")]
)
def test_encodings(site: Site, path: str, then: str) -> None:
    assert site.pages[f"/{path}"]["title"] == "packed"
    assert f"/from-{then}" in site.paths
    accepted = site.asked[-1].headers["accept-encoding"]
    assert "gzip" in accepted
    assert "br" in accepted


def test_redirects_are_followed_hop_by_hop(site: Site) -> None:
    for status in (301, 308):
        row = site.pages[f"/permanent/{status}"]
        assert (row["status"], row["permanent"]) == (status, True)
        assert row["redirect"].endswith("/moved")
    for status in (302, 303, 307):
        row = site.pages[f"/temporary/{status}"]
        assert (row["status"], row["permanent"]) == (status, False)
        assert row["redirect"].endswith("/elsewhere")
    assert site.pages["/hops"]["redirect"].endswith("/hops/1")
    assert site.pages["/hops/1"]["permanent"]
    assert site.pages["/hops/2"]["depth"] == 1


def test_letters_beyond_ascii_are_sent_as_the_server_wrote_them(site: Site) -> None:
    assert {"/caf%E9", "/caf%C3%A9"} <= site.paths, "in redirects"
    assert "/search?q=%E9" in site.paths, "in the query of a link"


def test_refresh_frames_areas_and_next(site: Site) -> None:
    assert {"/refreshed", "/frame", "/inline-frame", "/area", "/next"} <= site.paths


def test_what_pages_ask_of_crawlers(site: Site) -> None:
    assert not [path for path in site.paths if path.startswith("/not-")]
    assert {"/yes-1", "/yes-2"} <= site.paths
    noindex = {path for path, row in site.pages.items() if row["noindex"]}
    assert noindex == {"/meta", "/meta-named", "/header", "/header-named", "/header.pdf"}


def test_documents_by_content(site: Site) -> None:
    assert {"/from-pdf", "/from-docx", "/from-feed"} <= site.paths
    assert site.pages["/letter.docx"]["title"] == "A letter"


def test_types_that_are_skipped(site: Site) -> None:
    assert "/film" not in site.pages
    assert site.excluded["/film"]["reason"] == "skips type video/mp4"
    assert not any(url.endswith("/film") for url in stored_urls(site.folder))


def test_the_mark_of_a_cut_body(site: Site) -> None:
    long = site.pages["/long"]
    assert (long["truncated"], long["size"], long["title"]) == (True, 256 * 1024, "Long")
    assert "/behind-the-cap" not in site.paths
    assert [path for path, row in site.pages.items() if row["truncated"]] == ["/long"]
    archives = b"".join(gzip.decompress(path.read_bytes()) for path in (site.folder / "warc").iterdir())
    assert archives.count(b"WARC-Truncated: length") == 1


def test_how_the_crawler_introduces_itself(site: Site) -> None:
    assert {each.headers["user-agent"] for each in site.asked} == {"Tester/2.0 (+mailto:me@example.org)"}
    assert not any({"cookie", "referer", "authorization"} & each.headers.keys() for each in site.asked)
    assert site.asked[0].url == "/robots.txt"


def test_gone(site: Site) -> None:
    assert (site.pages["/gone"]["status"], site.pages["/gone"]["state"]) == (410, "gone")


def test_an_encoding_that_is_none(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Some servers send their charset as a content encoding. Browsers ignore it."""
    table = {"/": encoded("UTF-8", bytes), "/from-UTF-8": encoded("UTF-8", bytes)}
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--retry-wait", "50ms")
        assert ran.code == 0, ran.err
        assert server.requests["/from-UTF-8"] == 1, "it is learned once"
    rows = listed(sanderling, tmp_path / "c")
    assert {path: row["title"] for path, row in rows.items()} == {"/": "packed", "/from-UTF-8": "packed"}


# ---- cookies


def test_cookies_when_asked_for(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = {
        "/": Answer(links("/next"), headers=(("Set-Cookie", "a=b; Path=/"), ("Set-Cookie", "c=d; Domain=org"))),
        "/next": b"",
    }
    with PageServer(table) as server:
        assert sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--cookies").code == 0
        asked = {each.url: each.headers for each in server.asked}
    assert asked["/next"]["cookie"] == "a=b"
    assert "cookie" not in asked["/"]


def test_a_session_is_not_ended_by_a_link(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    inside = [f"/inside/{number}" for number in range(5)]
    table = {
        "/": Answer(links("/account/logout", "/away", *inside), headers=(("Set-Cookie", "session=1; Path=/"),)),
        "/account/logout": Answer(b"bye", headers=(("Set-Cookie", "session=0; Path=/; Max-Age=0"),)),
        "/away": redirect("/account/logout"),
        **dict.fromkeys(inside, b"for members"),
    }
    with PageServer(table) as server:
        assert sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--cookies").code == 0
        assert all(each.headers.get("cookie") == "session=1" for each in server.asked if each.url in inside)
        assert "/account/logout" not in server.requests
        (excluded,) = sanderling("pages", tmp_path / "c", "--state", "excluded", "--json").lines
        assert (excluded["url"], excluded["reason"]) == (
            server.origin + "/account/logout", "would end the session that cookies keep"
        )  # fmt: skip
        settings = tmp_path / "c/sanderling.toml"
        settings.write_text(settings.read_text().replace("cookies = true", "cookies = false"))
        assert sanderling("crawl", "-d", tmp_path / "c").code == 0
        assert server.requests["/account/logout"] == 1, "without a session it is a page like any other"


# ---- TLS and HTTP/2


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextmanager
def http2(authority: trustme.CA, folder: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server that speaks HTTP/2 over TLS; keeps version and path of what it was asked."""
    asked: list[tuple[str, str]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        asked.append((scope["http_version"], scope["path"]))
        found = scope["path"] in ("/", "/a", "/b")
        headers = [(b"content-type", b"text/html"), (b"etag", b'"x"')]
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
        await send({"type": "http.response.body", "body": links("/a", "/b") if found else b""})

    certificate = authority.issue_cert("127.0.0.1", "localhost")
    (folder / "key.pem").write_bytes(certificate.private_key_pem.bytes())
    (folder / "chain.pem").write_bytes(b"".join(each.bytes() for each in certificate.cert_chain_pems))
    config = hypercorn.Config()
    config.keyfile, config.certfile = str(folder / "key.pem"), str(folder / "chain.pem")
    config.accesslog = config.errorlog = None
    config.bind = ["127.0.0.1:0"]
    sockets = config.create_sockets()
    port = sockets.secure_sockets[0].getsockname()[1]
    config.create_sockets = lambda: sockets  # type: ignore[method-assign]
    stop = threading.Event()

    async def serve() -> None:
        async def asked_to_stop() -> None:
            while not stop.is_set():
                await asyncio.sleep(0.02)

        await hypercorn.asyncio.serve(app, config, shutdown_trigger=asked_to_stop)  # type: ignore[arg-type]

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield f"https://127.0.0.1:{port}", asked
    finally:
        stop.set()
        thread.join()


def test_http2_over_tls(sanderling, authority: trustme.CA, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    with http2(authority, tmp_path) as (origin, asked):
        ran = sanderling(
            "crawl", origin, "-d", tmp_path / "c", *FAST, "--clients", 1, env={"SSL_CERT_FILE": str(trusted)}
        )
        assert ran.code == 0, ran.err
    assert {version for version, _ in asked} == {"2"}
    assert {"/", "/a", "/b", "/robots.txt"} <= {path for _, path in asked}
    assert {row["status"] for row in listed(sanderling, tmp_path / "c").values()} == {200}
    archives = b"".join(gzip.decompress(path.read_bytes()) for path in (tmp_path / "c" / "warc").iterdir())
    responses = archives.count(b"WARC-Type: response\r\n")
    assert archives.count(b"WARC-Protocol: h2\r\n") == 2 * responses  # in the requests as well
    assert archives.count(b"GET /a HTTP/1.1\r\n") == 1
    assert len(stored_urls(tmp_path / "c")) == 3


def test_certificates_are_checked(sanderling, authority: trustme.CA, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Unknown issuer and wrong name: refused at once, without retries, and no request is sent."""
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))

    def context(issuer: trustme.CA, name: str) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issuer.issue_cert(name).configure_cert(made)
        return made

    with (
        PageServer({"/": b"x"}, context(trustme.CA(), "127.0.0.1")) as unknown,
        PageServer({"/": b"x"}, context(authority, "other.example")) as wrong,
        PageServer({"/": b"x"}, context(authority, "127.0.0.1")) as right,
    ):
        ran = sanderling(
            "crawl", unknown.origin, wrong.origin, right.origin, "-d", tmp_path / "c", *FAST, "--retry-wait", "1h",
            env={"SSL_CERT_FILE": str(trusted)},
        )  # fmt: skip
        assert ran.code == 0  # with a retry left they would stay queued
        assert not unknown.asked
        assert not wrong.asked
        rows = {row["url"]: row for row in sanderling("pages", tmp_path / "c", "--json").lines}
    assert rows[f"{right.origin}/"]["status"] == 200
    for bad in (unknown, wrong):
        row = rows[f"{bad.origin}/"]
        assert row["state"] == "failed"
        assert row["reason"].startswith("the TLS certificate is not valid: ")


# ---- proxies, and seeds that move


def test_socks_resolves_names_far_away(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with PageServer({"/": links("/more"), "/more": b"more"}) as server:
        socks = Socks(server.origin)
        with listening(socks) as (host, port):
            ran = sanderling(
                "crawl", "http://far-away.test/", "-d", tmp_path / "c", *FAST, "--proxy", f"socks5h://{host}:{port}"
            )
            assert ran.code == 0, ran.err
        assert set(socks.names) == {"far-away.test"}
        assert server.requests.items() >= {"/robots.txt": 1, "/": 1, "/more": 1}.items()


def test_a_seed_that_moves_takes_the_scope_along(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = {
        "http://old.test/": redirect("http://www.new.test/", 301),
        "http://www.new.test/": links("/here", "http://third.test/"),
        "http://www.new.test/here": redirect("http://fourth.test/"),
        "http://third.test/": b"",
        "http://fourth.test/": b"",
    }
    with PageServer(table) as server:
        ran = sanderling(
            "crawl", "http://old.test/", "-d", tmp_path / "c", *FAST, "--proxy", server.origin,
            env={"no_proxy": "*", "http_proxy": "http://127.0.0.1:1"},
        )  # fmt: skip
        assert ran.code == 0, ran.err
        visited = {each.url for each in server.asked}
    assert {"http://old.test/", "http://www.new.test/", "http://www.new.test/here"} <= visited
    assert not [url for url in visited if "third" in url or "fourth" in url]


def test_it_is_said_when_the_proxy_is_to_blame(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    def refuse(client: Any) -> None:
        client.recv(4096)
        client.sendall(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n")

    with listening(refuse) as (host, port):
        told = "--proxy", f"http://{host}:{port}", "--retries", 0
        ran = sanderling("crawl", "https://example.test/", "-d", tmp_path / "c", *told)
    assert ran.code == 1
    assert "the proxy does not lead to the host: CONNECT tunnel failed, response 407" in ran.out


# ---- ftp and gopher


def test_ftp_and_gopher_seeds(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    files = {"readme.html": b"<title>By FTP</title>" + links("http://127.0.0.1:9/", "ftp://127.0.0.1/other")}
    menus = {"": b"0About\t/about\tlocalhost\t70\r\n.\r\n", "/about": b"<title>By Gopher</title>"}
    with listening(ftp(files)) as (_, ftp_port), listening(gopher(menus)) as (_, gopher_port):
        seeds = [
            f"ftp://127.0.0.1:{ftp_port}/readme.html",
            f"ftp://127.0.0.1:{ftp_port}/missing.html",
            f"gopher://127.0.0.1:{gopher_port}",
            f"gopher://127.0.0.1:{gopher_port}/0/about",
        ]
        ran = sanderling("crawl", *seeds, "-d", tmp_path / "c", "--delay", 0, "--retry-wait", "1h")
        assert ran.code == 0, ran.err
    rows = {row["url"]: row for row in sanderling("pages", tmp_path / "c", "--json").lines}
    assert [(rows[seed]["status"], rows[seed]["title"]) for seed in seeds] == [
        (200, "By FTP"), (0, ""), (200, ""), (200, "By Gopher"),
    ]  # fmt: skip
    assert rows[seeds[1]]["state"] == "failed"
    assert rows[seeds[2]]["size"] == len(menus[""])
    assert sanderling("export", tmp_path / "c", "--format", "cdxj", "-o", "-").out.count("\n") == 3
    texts = {
        row["url"]: row["text"] for row in sanderling("export", tmp_path / "c", "--format", "jsonl", "-o", "-").lines
    }
    assert "About" in texts[seeds[2]], "what was read as text when it came is still text in the archive"


def test_an_odd_encoding_concerns_one_page_only(sanderling: Run, tmp_path: Path) -> None:
    """The other pages of the host are still decompressed."""
    odd = Answer(b"<title>Odd</title>one page", headers=(("Content-Encoding", "utf-8"),))
    packed = {
        f"/{n}": Answer(
            gzip.compress(b"<title>Page %d</title>" % n + b"words " * n), headers=(("Content-Encoding", "gzip"),)
        )
        for n in range(8)
    }
    with PageServer({"/": links("/odd", *packed), "/odd": odd, **packed}) as server:
        ran = sanderling(
            "crawl", server.origin, "-d", tmp_path / "c", "--delay", 0, "--clients", 1, "--retry-wait", "100ms"
        )
        assert ran.code == 0
        found = {
            page["url"].rpartition("/")[2]: page["title"]
            for page in sanderling("pages", tmp_path / "c", "--json").lines
        }
    assert found["odd"] == "Odd"
    assert {name: title for name, title in found.items() if name.isdigit()} == {f"{n}": f"Page {n}" for n in range(8)}


def test_single_bytes_take_no_more_memory_than_the_body() -> None:
    handle = Handle(pycurl.Curl(), True, BodyMemory(1 << 20, 1 << 20, 1), lambda _: True)
    response = handle.begin(Request("http://e.org/", True, 1 << 20), None)
    for n in range(200_000):
        assert handle.write(bytes([n % 251])) is None
    assert response.body == bytes(n % 251 for n in range(200_000))
    assert len(response.chunks) < 200_000 // JOINED_AT + JOINED_AT
