"""Hostile input from the web, and how the crawler handles it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sanderling.cli import main
from sanderling.cli.crawl import _default_folder
from sanderling.documents.charsets import decode
from sanderling.model.reasons import SENTENCES, code_of, sentence
from sanderling.server.frontier.scope import canonical_seed
from sanderling.testing import FaultServer
from sanderling.testing.faults.exchange import FAULTS
from tests.conftest import FAST, command, stored_urls
from tests.papers import nested_forms, pdf
from tests.servers import Answer, PageServer, links, redirect

# Endless faults are crawled with short time-outs, all others with as much time as a busy machine
# needs.
WITHOUT_END = ("hang", "slow-headers", "slow-body")
IMPATIENT = ("--first-byte-timeout", "2s", "--fetch-timeout", "4s", "--low-speed-time", "1s", "--retries", "0")
PATIENT = ("--first-byte-timeout", "1h", "--fetch-timeout", "1h", "--low-speed-time", "1h", "--retries", "0")
MIB = 1024 * 1024


class Crawled(NamedTuple):
    """One crawl of every fault there is."""

    faults: FaultServer
    folder: Path
    urls: dict[str, dict[str, Any]]  # by URL without the origin of the faults
    excluded: dict[str, dict[str, Any]]
    received: int


@pytest.fixture(scope="module")
def crawled(sanderling, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("faults") / "crawl"
    endless = tmp_path_factory.mktemp("endless") / "crawl"
    with FaultServer() as faults:
        seeds = folder.with_name("seeds.txt")
        names = [f"redirect-to-private/{kind}" for kind in faults.private]
        names += ["redirect/30", "redirect-cross-origin/308", "status/204", "status/403", "status/410", "status/999"]
        seeds.write_text("\n".join([faults.url(), *map(faults.url, names)]))
        without = "|".join(f"/{name}$" for name in WITHOUT_END)
        ran = sanderling(
            "crawl", "--seeds", seeds, "-d", folder, "--scope", "any", "--exclude", f"trap-|/page/n[0-9]|{without}",
            "--per-host", 16, "--delay", 0, *PATIENT, "--max-body", "1MiB",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        ran = sanderling("crawl", *map(faults.url, WITHOUT_END), "-d", endless, *FAST, *IMPATIENT, "--ignore-robots")
        assert ran.code == 1, ran.err  # none of them can be fetched

        def listed(folder: Path, *more: str) -> dict[str, dict[str, Any]]:
            rows = sanderling("pages", folder, "--json", *more).lines
            return {row["url"].removeprefix(faults.origin + "/"): row for row in rows}

        urls = listed(folder) | listed(endless)
        yield Crawled(faults, folder, urls, listed(folder, "--state", "excluded"), len(faults.received))


def test_it_is_known_how_every_fault_ended(crawled: Crawled) -> None:
    for fault in FAULTS.values():
        if not fault.name.startswith("trap-"):
            assert crawled.urls[fault.example]["state"] in ("fetched", "failed")


def test_what_was_stored_can_be_read_back(crawled: Crawled, tmp_path: Path) -> None:
    pages = {row["url"] for row in crawled.urls.values() if row["warc"]}
    stored = stored_urls(crawled.folder)
    assert len(stored) == len(pages)
    assert set(stored) == pages
    for kind in ("jsonl", "cdxj", "links", "warc"):
        assert main(["export", str(crawled.folder), "--format", kind, "-o", str(tmp_path / kind)]) == 0


# ---- 1: schemes


def test_only_the_web_is_followed(crawled: Crawled) -> None:
    assert crawled.urls["links-bad-schemes"]["status"] == 200
    assert crawled.urls["page/ok"]["status"] == 200
    everything = crawled.urls.keys() | crawled.excluded.keys()
    others = {url for url in everything if "://" in url and not url.startswith("http://")}
    assert all(crawled.excluded[url]["reason_code"].startswith("scheme:") for url in others)
    assert not any("from-data" in url for url in everything)
    assert crawled.urls["redirect-to-file"]["state"] == "failed"
    assert "not on the web" in crawled.urls["redirect-to-file"]["reason"]


BAD = ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/1x", "javascript:alert(1)", "data:text/html,x"]


def test_schemes_in_every_place_that_names_a_url(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Links, frames, canonical, alternate, base, refresh, form action, sitemaps, robots,
    redirects."""
    head = "".join(
        f'<link rel=canonical href="{url}"><link rel=alternate href="{url}"><base href="{url}">'
        f'<meta http-equiv=refresh content="0; url={url}">'
        for url in BAD
    )
    body = "".join(
        f'<iframe src="{url}"></iframe><area href="{url}"><form action="{url}"><button></form><a href="{url}">x</a>'
        for url in BAD
    )
    sitemap = "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in BAD) + "</urlset>"
    table = {
        "/": f'<html><head>{head}</head>{body}<a href="/sitemap.xml">s</a> <a href="/r0">r</a>'.encode(),
        "/sitemap.xml": Answer(sitemap.encode(), "application/xml"),
        "/robots.txt": Answer("".join(f"Sitemap: {url}\n" for url in BAD).encode(), "text/plain"),
        **{f"/r{n}": redirect(url) for n, url in enumerate(BAD)},
    }
    table["/"] += links(*(f"/r{n}" for n in range(len(BAD))))
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--scope", "any", "--json")
        # The links to FTP and Gopher are known, and not followed.
        assert (ran.json["known"], ran.json["pages"], ran.json["failed"]) == (2 + len(BAD) + 2, 2, len(BAD))


def test_what_is_judged_is_what_is_asked_for(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A path that becomes another one without its session id must not bypass robots.txt or the
    scope."""
    hidden = [
        "/docs/..;jsessionid=1/secret",
        "/docs/%2e%2e;sid=2/secret",
        "/docs/..;sid=3/elsewhere",
        "/docs/%%32e%%32e/x",
    ]
    table = {
        "/docs/": b"docs" + links(*hidden, "/docs/ok"),
        "/docs/ok": b"ok",
        "/secret": b"secret",
        "/elsewhere": b"elsewhere",
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /secret\n", "text/plain"),
    }
    for scope in ("prefix", "host"):
        with PageServer(table) as server:
            ran = sanderling("crawl", f"{server.origin}/docs/", "-d", tmp_path / scope, *FAST, "--scope", scope)
            asked = {each.url for each in server.asked}
        assert ran.code == 0, ran.err
        assert not any("secret" in url for url in asked)
        assert any("elsewhere" in url for url in asked) is (scope == "host")
        assert any(url.endswith("/docs/%%32e%%32e/x") for url in asked)


def test_every_reason_is_stored_as_a_code(crawled: Crawled) -> None:
    said = [row for row in crawled.urls.values() if row["reason"]]
    assert {code_of(row["reason_code"]) for row in said} <= set(SENTENCES) - {"other"}
    assert all(row["reason"] == sentence(row["reason_code"]) for row in said)
    assert len(said) > 30


# ---- 2: addresses


def test_private_addresses_in_links_redirects_and_frames(crawled: Crawled) -> None:
    """Whatever their form, none of them receives any request, not even for robots.txt."""
    assert crawled.received == 0
    private = [row for row in crawled.urls.values() if "private address" in row["reason"]]
    assert len({row["url"] for row in private}) >= len(crawled.faults.private) - 2  # two pairs are the same URL
    assert all(row["state"] == "failed" and row["status"] == 0 for row in private)
    assert any(row["url"].endswith("/private/meta-refresh") for row in private)
    assert any(row["url"].endswith("/landing") for row in private)
    for kind in crawled.faults.private:
        row = crawled.urls[f"redirect-to-private/{kind}"]
        assert (row["status"], row["state"]) == (302, "fetched")
        assert row["redirect"] in {found["url"] for found in private}


# ---- 4: redirects


def test_redirects_that_lead_nowhere(crawled: Crawled) -> None:
    for name in ("redirect-self", "redirect-bad", "redirect-no-location"):
        assert crawled.urls[name]["state"] == "failed"
        assert "redirects to" in crawled.urls[name]["reason"]
    assert crawled.faults.requests["/redirect-loop"] == crawled.faults.requests["/redirect-loop/back"] == 1
    assert crawled.excluded["redirect-endless/21"]["reason"] == "more than 20 redirects"
    assert crawled.excluded["redirect/9"]["reason"] == "more than 20 redirects"
    assert crawled.faults.requests["/redirect/9"] == 0
    assert crawled.urls["redirect/3"]["redirect"].endswith("/redirect/2")


def test_nothing_secret_crosses_an_origin(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Credentials in a link and a host's cookies are not sent, and no body was ever sent."""
    table = {
        "http://a.test/": Answer(
            b"", status=307, headers=(("Location", "http://b.test/"), ("Set-Cookie", "secret=1; Path=/"))
        ),
        "http://b.test/": b"arrived" + links("http://user:password@a.test/again"),
        "http://a.test/again": b"again",
    }
    with PageServer(table) as server:
        ran = sanderling(
            "crawl", "http://a.test/", "-d", tmp_path / "c", "--proxy", server.origin, "--cookies",
            "--scope", "any", *FAST,
        )  # fmt: skip
        assert ran.code == 0, ran.err
        asked = {each.url: each.headers for each in server.asked}
    assert asked["http://a.test/again"]["cookie"] == "secret=1"
    assert not {"cookie", "authorization", "content-length"} & asked["http://b.test/"].keys()
    assert not any("authorization" in headers for headers in asked.values())
    assert "password" not in (tmp_path / "c" / "sanderling.toml").read_text()


# ---- 5: bombs


@pytest.mark.parametrize("name", ["gzip-bomb", "deflate-bomb", "brotli-bomb", "nested-gzip-bomb"])
def test_bombs_are_cut_at_the_cap(crawled: Crawled, name: str) -> None:
    row = crawled.urls[name]
    assert (row["status"], row["title"], row["truncated"], row["size"]) == (200, "Bomb", True, MIB)


def test_compression_that_is_not_as_it_says(crawled: Crawled) -> None:
    for name in ("broken-gzip", "not-gzip"):
        assert crawled.urls[name]["reason"] == "the body is not encoded as it says"
    for name in ("gzip", "nested-gzip", "gzip-trailing-garbage"):
        assert (crawled.urls[name]["title"], crawled.urls[name]["truncated"]) == ("Compressed", False)
    packed = crawled.urls["sitemap-bomb.xml.gz"]
    assert (packed["status"], packed["title"]) == (200, "")
    assert packed["size"] < MIB


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """Bombs, endless bodies, floods and a million links, all at once: the largest process stays
    small."""
    names = ["gzip-bomb", "deflate-bomb", "brotli-bomb", "nested-gzip-bomb", "endless", "endless-chunks",
             "header-flood", "long-line", "long-attribute", "million-links", "deep-html", "xml-bomb"]  # fmt: skip
    with FaultServer() as faults:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join(map(faults.url, names)))
        arguments = command(
            "crawl", "--seeds", seeds, "-d", tmp_path / "c", "--per-host", 12, "--delay", 0, "--clients", 1,
            "--max-depth", 0, *PATIENT, "--max-body", "4MiB",
        )  # fmt: skip
        # In a process of its own, because the peak of a child is known only as the highest of all.
        measure = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        done = subprocess.run([sys.executable, "-c", measure, *arguments], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 330 * MIB


# ---- 6: connections


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("reset", "the connection broke"),
        ("reset-midway", "the connection broke"),
        ("drop", "the connection was closed without an answer"),
        ("hang", "timed out"),  # another test checks which limit it is, because a busy machine may miss the first
        ("slow-headers", "timed out"),
        ("slow-body", "timed out"),
        ("header-flood", "the headers are too large"),
        ("long-header", "the headers are too large"),
        ("cookies-many", "the headers are too large"),
        ("short", "the body ended early"),
        ("cut-chunk", "the body ended early"),
        ("broken-chunk", "the connection broke: chunk"),
        ("two-lengths", "Invalid Content-Length"),
        ("not-http", ""),
    ],
)
def test_connections_that_fail(crawled: Crawled, name: str, reason: str) -> None:
    row = crawled.urls[name]
    assert (row["state"], row["status"]) == ("failed", 0)
    assert row["reason"].startswith(reason)
    assert row["reason"]


def test_bodies_without_end(crawled: Crawled) -> None:
    for name in ("endless", "endless-chunks"):
        assert (crawled.urls[name]["truncated"], crawled.urls[name]["size"]) == (True, MIB)


def test_statuses(crawled: Crawled) -> None:
    states = {204: "fetched", 403: "failed", 410: "gone", 503: "failed", 999: "failed"}
    for status, state in states.items():
        row = crawled.urls[f"status/{status}"]
        assert (row["status"], row["state"]) == (status, state)
    assert crawled.urls["always-304"]["state"] == "failed"


# ---- 7: markup


@pytest.mark.parametrize(
    ("name", "title", "truncated"),
    [
        ("deep-html", "Deep", True),
        ("long-line", "", True),
        ("long-attribute", "Long", True),
        ("million-links", "A million links", True),
        ("nul-bytes", "Nul\ufffds", False),
        ("unclosed", "Unclosed", False),
        ("empty", "", False),
        ("xml-bomb", "", False),
        ("xml-external-entity", "", False),
        ("xml-deep", "", False),
        ("not-html", "", False),
        ("pixel-bomb.png", "", False),
    ],
)
def test_markup_meant_to_break_parsers(crawled: Crawled, name: str, title: str, truncated: bool) -> None:
    row = crawled.urls[name]
    assert (row["status"], row["state"], row["title"], row["truncated"]) == (200, "fetched", title, truncated)
    assert row["reason"] == ""


def test_entities_are_not_expanded(crawled: Crawled) -> None:
    everything = crawled.urls.keys() | crawled.excluded.keys()
    assert not any(
        "haha" in url or "root:" in url or "entity" in url.rpartition("/")[2]
        for url in everything - {"xml-external-entity"}
    )


def test_a_long_base_does_not_multiply(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """With a base URL of 8 KB, 100 KB of links would become 160 MB of URLs."""
    page = f'<base href="/{"x" * 8000}/">'.encode() + b"".join(b"<a href=%d>" % n for n in range(20_000))
    with PageServer({"/": page + links("/after"), "/after": b"fine"}) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--exclude", "/x", "--json")
    assert ran.code == 0
    assert ran.json["clients_replaced"] == 0
    assert 500 < ran.json["known"] < 2000


def test_a_document_that_needs_too_much_is_kept_unread(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = {
        "/": b"papers" + links("/bomb.pdf", "/fine.pdf"),
        "/bomb.pdf": Answer(nested_forms(30), "application/pdf"),
        "/fine.pdf": Answer(pdf("heron", "http://e.org/"), "application/pdf"),
    }
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--json")
    assert (ran.code, ran.json["pages"], ran.json["clients_replaced"]) == (0, 3, 0)
    rows = {row["url"].rpartition("/")[2]: row for row in sanderling("pages", tmp_path / "c", "--json").lines}
    assert "the reader needed more than" in rows["bomb.pdf"]["reason"]
    assert (rows["bomb.pdf"]["state"], rows["fine.pdf"]["reason"]) == ("fetched", "")
    found = sanderling("search", tmp_path / "c", "heron", "--json")
    assert "fine.pdf" in found.out


# ---- 9: nothing that a page says selects Python objects


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "rot13", "zlib_codec", "undefined", "os"])
def test_a_charset_is_no_codec_of_python(charset: str) -> None:
    assert decode(rb"plain \x41 caf\u00e9", charset) == r"plain \x41 caf\u00e9"
    assert len(decode(b"-" + b"a" * 1_000_000, charset)) == 1_000_001  # Python's punycode would take hours


def test_neither_pickle_nor_eval() -> None:
    source = Path(__file__).parent.parent / "src" / "sanderling"
    for path in source.rglob("*.py"):
        text = path.read_text()
        for word in ("import pickle", "import marshal", "import shelve", "eval(", " exec(", "yaml.load", "__import__("):
            assert word not in text.replace("re2.eval(", ""), (path, word)


# ---- 10: file names


def test_no_file_is_named_after_a_url(crawled: Crawled) -> None:
    assert {path.name for path in crawled.folder.iterdir()} <= {
        "sanderling.db", "sanderling.db-wal", "sanderling.db-shm", "sanderling.toml", "sanderling.lock", "warc", "index",
    }  # fmt: skip
    assert all(path.name.endswith(".warc.gz") for path in (crawled.folder / "warc").iterdir())
    assert [path.name for path in crawled.folder.parent.iterdir() if path.name != "seeds.txt"] == ["crawl"]


def test_dangerous_names_are_just_urls(crawled: Crawled) -> None:
    for name in ("page/%00", "page/..%2F..%2Fetc%2Fpasswd", "page/CON", "page/-rf", "page/%0D%0ASet-Cookie:x=y"):
        assert crawled.urls[name]["status"] == 200
    assert crawled.urls["etc/passwd"]["status"] == 404


@pytest.mark.parametrize(
    "seed", ["http://[::1]:9/", "http://127.0.0.1:9/../../x", "http://-rf/", "http://a.../", "ftp://x%2e%2e/"]
)
def test_the_folder_named_after_a_seed_stays_here(seed: str) -> None:
    folder = _default_folder([canonical_seed(seed)])
    assert len(folder.parts) == 1
    assert folder.name not in ("", ".", "..")
    assert folder.name.isprintable()


# ---- 12: charsets and terminals


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("bom-conflict", "Café crème, naïve façade"),
        ("utf16", "Café crème, naïve façade"),
        ("unknown-charset", "Café crème, naïve façade"),
        ("latin1-labelled-utf8", "Caf\ufffd cr\ufffdme, na\ufffdve fa\ufffdade"),
        ("utf8-labelled-latin1", "CafÃ© crÃ¨me, naÃ¯ve faÃ§ade"),
    ],
)
def test_charsets_that_lie(crawled: Crawled, name: str, title: str) -> None:
    assert crawled.urls[name]["title"] == title


def test_invalid_utf8(crawled: Crawled) -> None:
    assert crawled.urls["invalid-utf8"]["title"].startswith("ok \ufffd ")


def test_nothing_from_the_web_commands_a_terminal(crawled: Crawled, sanderling) -> None:  # type: ignore[no-untyped-def]
    assert "\x1b]0;owned" in crawled.urls["control-characters"]["title"]
    assert "\u202e" in crawled.urls["bidi"]["title"]
    shown = sanderling("pages", crawled.folder).out
    assert "owned" in shown
    assert "fdp.exe" in shown
    dangerous = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u200b\u200e\u200f\u202a\u202e\u2066\u2069"}
    assert not dangerous & set(shown.replace("\n", ""))
    raw = subprocess.run(command("pages", crawled.folder, "--json"), capture_output=True).stdout
    assert b"\x1b" not in raw
    assert b"\x07" not in raw


# ---- 14: robots.txt


ROBOTS = {
    "disallow": (set(), "disallowed by robots.txt"),
    "500": (set(), "robots.txt answered 500"),
    "429": (set(), "robots.txt answered 429"),
    "timeout": (set(), "robots.txt could not be read: timed out: no first byte within 1 s"),
    "reset": (set(), "robots.txt could not be read: the connection broke: Recv failure: Connection reset by peer"),
    "missing": ({"/base-href", "/page/below"}, ""),
    "html": ({"/base-href", "/page/below"}, ""),
    "huge": ({"/base-href", "/page/below"}, ""),
    "redirect-loop": ({"/base-href", "/page/below"}, ""),
    "redirect": ({"/base-href"}, "disallowed by robots.txt"),
}


def test_robots(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with ExitStack() as stack:
        servers = {robots: stack.enter_context(FaultServer(robots)) for robots in ROBOTS}
        reasons: dict[str, str] = {}
        for name, patience in (("timeout", "1s"), ("others", "1h")):
            seeds = [
                each.url("base-href")
                for robots, each in servers.items()
                if (robots == "timeout") == (name == "timeout")
            ]
            ran = sanderling(
                "crawl", *seeds, "-d", tmp_path / name, "--delay", 0, "--retries", 0, "--first-byte-timeout", patience,
                "--max-depth", 1,
            )  # fmt: skip
            assert ran.code == (name == "timeout")  # then there is nothing that may be fetched
            for state in ("failed", "excluded"):
                rows = sanderling("pages", tmp_path / name, "--state", state, "--json").lines
                reasons |= {row["url"]: row["reason"] for row in rows}
        for robots, (pages, reason) in ROBOTS.items():
            server = servers[robots]
            assert server.requests.keys() & {"/base-href", "/page/below"} == pages, robots
            assert pages or server.requests.keys() == {"/robots.txt"}
            found = {reasons[url] for url in reasons if url.startswith(server.origin + "/")}
            assert found - {"deeper than max_depth"} == ({reason} if reason else set())


def test_endless_robots_are_read_to_the_limit(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rules = b"User-agent: *\nDisallow: /no\n" + b"# and so on\n" * 2_000_000
    table = {"/robots.txt": Answer(rules, "text/plain"), "/": links("/no", "/yes"), "/yes": b"yes", "/no": b"no"}
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST, "--max-body", "1KiB", "--json")
    assert (ran.json["pages"], ran.json["excluded"]) == (2, 1)


# ---- 16: side effects


def test_forms_are_never_sent(crawled: Crawled) -> None:
    assert crawled.urls["side-effects"]["title"] == "Handle with care"
    assert "page/posted" not in crawled.urls.keys() | crawled.excluded.keys()
    assert crawled.faults.requests["/page/posted"] == 0
