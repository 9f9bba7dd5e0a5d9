"""Links to FTP and Gopher: listed as not followed, and followed with `--follow-schemes`."""

from pathlib import Path

import pytest

from sanderling.documents.menus import implied_type
from sanderling.documents.reading import media_type, read_document
from tests.conftest import FAST, Run, listed
from tests.servers import PageServer, ftp, gopher, links, listening

FILES = {
    "pub/readme.html": b"<title>By FTP</title>",
    "pub/old/a file: 50%.txt": b"knots and sanderlings",
    "private.html": b"<title>Outside</title>",
}
LISTING = b"""total 8\r
drwxr-xr-x   2 ftp      ftp          4096 Jan 31 12:00 .\r
drwxr-xr-x    2 0        4096 Jan 31  2024 a folder\r
-rw-r--r--@ 1 user group 12 2024-01-31 12:00 one.txt\r
lrwxrwxrwx 1 user group 12 Jan  1 12:00 latest -> one.txt\r
01-31-24  12:00PM       <DIR>          DOS\r
01-31-24  12:00PM                   17 two.txt\r
"""
MENU = b"""iWelcome to birds\tfake\t(NULL)\t0\r
0About\t/about me\tHOST\t70\r
1More\t/more\thost\t7070\r
hOn the web\tURL:http://a.test/\thost\t70\r
7Search\t/find\thost\t70\r
broken line\r
.\r
after the end\tx\thost\t70\r
"""


def test_by_default_they_are_listed_with_the_reason(sanderling: Run, tmp_path: Path) -> None:
    """They also count as not followed, with the option that follows them."""
    with PageServer({"/": links("ftp://127.0.0.1:9/pub/", "gopher://127.0.0.1:9/1/birds")}) as web:
        ran = sanderling("crawl", web.origin, "-d", tmp_path / "c", *FAST)
    assert ran.code == 0, ran.err
    rows = {row["url"]: row for row in sanderling("pages", tmp_path / "c", "--state", "excluded", "--json").lines}
    assert rows["ftp://127.0.0.1:9/pub/"]["reason_code"] == "scheme:ftp"
    assert rows["gopher://127.0.0.1:9/1/birds"]["reason"] == "scope: a link to gopher, which --follow-schemes follows"


def test_listings_and_menus_are_followed_with_the_option(sanderling: Run, tmp_path: Path) -> None:
    menus = {"/birds": b"1Waders\t/waders\t127.0.0.1\tPORT\r\n0Out\t/x\telsewhere.test\t70\r\n.\r\n"}
    with listening(ftp(FILES)) as (_, ftp_port), listening(gopher(menus)) as (_, gopher_port):
        port = str(gopher_port).encode()
        menus |= {"/birds": menus["/birds"].replace(b"PORT", port), "/waders": b"0Text\t/t\t127.0.0.1\t%s\r\n" % port}
        menus["/t"] = b"sanderling, dunlin"
        files, holes = f"ftp://127.0.0.1:{ftp_port}/pub/", f"gopher://127.0.0.1:{gopher_port}/1/birds"
        with PageServer({"/": links(files, holes)}) as web:
            follow = ("--follow-schemes", "ftp,gopher", "--allow-private")
            ran = sanderling("crawl", web.origin, "-d", tmp_path / "c", *follow, *FAST)
    assert ran.code == 0, ran.err
    rows = {row["url"]: row["status"] for row in sanderling("pages", tmp_path / "c", "--json").lines}
    found = {url.partition("127.0.0.1:")[2].partition("/")[2] for url, status in rows.items() if status == 200}
    assert found == {"", "pub/", "pub/readme.html", "pub/old/", "pub/old/a%20file%3A%2050%25.txt",
                     "1/birds", "1/waders", "0/t"}  # fmt: skip
    hits = sanderling("search", tmp_path / "c", "dunlin", "--json").lines
    assert [hit["url"].endswith("/0/t") for hit in hits] == [True]
    assert sanderling("search", tmp_path / "c", "Waders", "--json").lines, "a menu is read again as a menu"


def test_a_seed_by_such_a_scheme_is_crawled_like_a_site(sanderling: Run, tmp_path: Path) -> None:
    with listening(ftp(FILES)) as (_, port):
        seed = f"ftp://127.0.0.1:{port}/pub/"
        assert sanderling("crawl", seed, "-d", tmp_path / "c", "--scope", "prefix", *FAST).code == 0
    assert len(listed(sanderling, tmp_path / "c")) == 4


@pytest.mark.parametrize(
    ("url", "body", "found"),
    [
        ("ftp://a.test/x/", LISTING, ["./a%20folder/", "./one.txt", "./latest", "./DOS/", "./two.txt"]),
        ("gopher://a.test", MENU, ["gopher://host/0/about%20me", "gopher://host:7070/1/more", "http://a.test/"]),
        ("gopher://a.test/1/x", b"", []),
    ],
)
def test_listings_and_menus_are_read(url: str, body: bytes, found: list[str]) -> None:
    mime, charset = media_type(implied_type(url))
    read = read_document(mime, body, charset)
    assert read.links == found
    assert "after the end" not in read.text


@pytest.mark.parametrize("url", ["http://a.test/", "ftp://a.test/x.txt", "gopher://a.test/0/x", "gopher://a.test/9/x"])
def test_other_addresses_imply_no_type(url: str) -> None:
    assert implied_type(url) == ""


def test_an_unknown_scheme_is_refused(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://a.test/", "-d", tmp_path / "c", "--follow-schemes", "ftp,news")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "is not a list of some of ftp, gopher" in ran.err
