"""One page, one identity: crawls of sites that have several names for a page, or have sitemaps."""

import contextlib
import gzip
from pathlib import Path
from random import Random

from sanderling.testing.prose import sentences
from tests.conftest import FAST, Run, stored_urls
from tests.servers import Answer, PageServer, links, redirect


def page(seed: int, *targets: str, head: str = "") -> bytes:
    text = " ".join(Random(seed).sample(sentences(0), 8))
    return f"<html><head>{head}<title>{seed}</title></head><p>{text}</p>".encode() + links(*targets)


def crawled(sanderling: Run, folder: Path) -> dict[str, dict[str, object]]:
    return {row["url"].split("/", 3)[3]: row for row in sanderling("pages", folder, "--json").lines}


def test_a_parameter_that_does_not_count_is_learned(sanderling: Run, tmp_path: Path) -> None:
    """Every link has another value of the parameter, but the pages are the same."""
    table: dict[str, bytes] = {}
    count = 30
    for n in range(count):
        hrefs = [f"/p-{word(m)}?from={word(n)}" for m in (n + 1, n * 2, n * 3, n + 7) if m < count]
        for origin in range(count):
            table[f"/p-{word(n)}?from={word(origin)}"] = page(n, *hrefs)
        table[f"/p-{word(n)}"] = page(n, *hrefs)
    table["/"] = page(99, *(f"/p-{word(n)}?from=home{word(k)}" for n in range(4) for k in range(2)))
    for n in range(4):
        for k in range(2):
            table[f"/p-{word(n)}?from=home{word(k)}"] = table[f"/p-{word(n)}"]
    with PageServer(table) as site:
        folder = tmp_path / "crawl"
        assert sanderling("crawl", site.origin, "-d", folder, "--delay", "0.005").code == 0
        fetched = crawled(sanderling, folder)
        assert {url.partition("?")[0] for url in fetched} == {"", *(f"p-{word(n)}" for n in range(count))}
        assert len(fetched) < 1.7 * count
        hosts = sanderling("status", folder, "--hosts", "--json").lines
        assert list(hosts[0]["ignored_parameters"]) == ["from"]
        assert "from does not count" in sanderling("status", folder, "--hosts").out
        assert any(row["same_as"] for row in fetched.values())
        merged = sanderling("pages", folder, "--json", "--state", "excluded").lines
        assert all(row["reason"].startswith("merged: ") for row in merged)
        again = sanderling("crawl", "-d", folder, "--json").json
        assert again["queued"] == 0
        assert again["pages"] == len(fetched)


def word(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_a_parameter_that_counts_is_kept(sanderling: Run, tmp_path: Path) -> None:
    table = {
        f"/show?id={word(n)}": page(n, *(f"/show?id={word(m)}" for m in range(n, min(n + 4, 40)))) for n in range(40)
    }
    table["/"] = page(99, "/show?id=a")
    with PageServer(table) as site:
        assert sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *FAST).code == 0
        assert len(crawled(sanderling, tmp_path / "crawl")) == 41


def test_canonical_links_and_permanent_redirects_name_one_page(sanderling: Run, tmp_path: Path) -> None:
    stands_for = '<link rel="canonical" href="{}">'
    table: dict[str, bytes | Answer] = {
        "/": page(0, "/copy", "/liar", "/orphan", "/old", "/other", "/one", "/two", "/moved-away", "/older", "/ring-0"),
        "/copy": page(1, head=stands_for.format("/true")),
        "/true": page(1, head=stands_for.format("/true")),
        "/liar": page(2, head=stands_for.format("/")),
        "/orphan": page(3, head=stands_for.format("/nowhere")),
        "/old": redirect("/true", 301),
        "/other": redirect("/true", 302),
        "/one": page(4, head=stands_for.format("/two")),
        "/two": page(4, head=stands_for.format("/one")),
        "/moved-away": redirect("/nowhere", 301),
        "/older": redirect("/old", 308),
        **{f"/ring-{n}": page(5, head=stands_for.format(f"/ring-{(n + 1) % 4}")) for n in range(4)},
    }
    with PageServer(table) as site:
        folder = tmp_path / "crawl"
        assert sanderling("crawl", site.origin, "-d", folder, "--delay", "0").code == 0
        found = {url: str(row["same_as"] or "").rpartition("/")[2] for url, row in crawled(sanderling, folder).items()}
        assert found["copy"] == found["old"] == found["older"] == "true"
        assert [found[f"ring-{n}"] for n in range(4)].count("") == 1  # one of them represents all
        assert found["liar"] == found["orphan"] == found["other"] == found["true"] == found["moved-away"] == ""
        assert sorted((found["one"], found["two"])) in (["", "one"], ["", "two"])
        assert site.requests["/true"] == site.requests["/liar"] == site.requests["/copy"] == 1
        assert len(stored_urls(folder)) == len(found)  # nothing is hidden


def test_twins_are_merged_once_their_contents_agree(sanderling: Run, tmp_path: Path) -> None:
    """Both hosts have the same pages. After a few equal ones, the rest is fetched from one host."""
    count = 60
    table: dict[str, bytes] = {}
    for home in ("http://twin.test", "http://www.twin.test"):
        for n in range(count):
            both = [f"http://{www}twin.test/p-{word(m)}" for m in (n + 1, n + 2) for www in ("", "www.") if m < count]
            table[f"{home}/p-{word(n)}"] = page(n, *both)
    with PageServer(table) as site:
        folder = tmp_path / "crawl"
        start = "http://twin.test/p-a"
        ran = sanderling("crawl", start, "-d", folder, "--proxy", site.origin, "--scope", "domain", "--delay", "0.01")
        assert ran.code == 0, ran.err
        pages = {row["url"]: row["same_as"] for row in sanderling("pages", folder, "--json").lines}
        assert {url.rpartition("/")[2] for url in pages} == {f"p-{word(n)}" for n in range(count)}
        assert len(pages) < 1.5 * count
        assert len(pages) - sum(map(bool, pages.values())) == count  # what was fetched from both is one page
        hosts = {row["host"]: row["same_as"] for row in sanderling("status", folder, "--hosts", "--json").lines}
        assert sorted(filter(None, hosts.values())) in (["http://twin.test"], ["http://www.twin.test"])


def test_near_duplicates_are_found_and_none_is_dropped(sanderling: Run, tmp_path: Path) -> None:
    body = page(5).decode()
    table = {"/": page(1, "/a", "/b", "/c"), "/a": body.encode(), "/b": body.replace("</p>", " zebra</p>").encode()}
    table["/c"] = page(6)
    with PageServer(table) as site:
        folder = tmp_path / "crawl"
        sanderling("crawl", site.origin, "-d", folder, *FAST)
        assert len(crawled(sanderling, folder)) == 4
        groups = [row["near"] for row in sanderling("duplicates", folder, "--json").lines]
        assert [sorted(url.rpartition("/")[2] for url in group) for group in groups] == [["a", "b"]]
        near = {row["url"]: row["near"] for row in sanderling("pages", folder, "--json", "--near").lines if row["near"]}
        assert len(near) == 1
        assert "nearly the same" in sanderling("duplicates", folder).out


def sitemap(*urls: str, tag: str = "url", more: str = "") -> Answer:
    entries = "".join(f"<{tag}><loc>{url}</loc>{more}</{tag}>" for url in urls)
    return Answer(f"<?xml version='1.0'?><urlset>{entries}</urlset>".encode(), "application/xml")


def test_pages_that_only_a_sitemap_names_are_found(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({}) as site:
        home = site.origin
        robots = f"User-agent: *\nDisallow:\nSitemap: {home}/index.xml\nSitemap: file:///etc/passwd\n"
        packed = gzip.compress(sitemap(f"{home}/two", more="<lastmod>2024-05-01</lastmod>").body)
        site.table |= {
            "/robots.txt": Answer(robots.encode(), "text/plain"),
            "/": page(0, "/one"),
            "/one": page(1),
            "/two": page(2),
            "/three": page(3),
            "/feed": Answer(
                b"<rss><channel><item><link>%s/one</link><pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item></channel></rss>"
                % home.encode(), "application/rss+xml",
            ),
            "/index.xml": sitemap(f"{home}/1.xml.gz", f"{home}/2.txt", f"{home}/index.xml", tag="sitemap"),
            "/1.xml.gz": Answer(packed, "application/x-gzip"),
            "/2.txt": Answer(f"{home}/three\nhttp://169.254.169.254/\nhttp://other.test/\n{home}/feed\n".encode(), "text/plain"),
        }  # fmt: skip
        folder = tmp_path / "crawl"
        ran = sanderling("crawl", home, "-d", folder, *FAST, "--json")
        assert ran.code == 0, ran.err
        assert set(crawled(sanderling, folder)) == {"", "one", "two", "three", "feed"}
        assert ran.json["pages"] == ran.json["fetched"] == 5
        assert all(count == 1 for count in site.requests.values())
        assert "/sitemap.xml" not in site.requests
        assert len(stored_urls(folder)) == 5  # sitemaps are no pages
        excluded = {
            row["url"]: row["reason"] for row in sanderling("pages", folder, "--json", "--state", "excluded").lines
        }
        assert excluded == {
            "http://169.254.169.254/": "scope: another host",
            "http://other.test/": "scope: another host",
        }
        assert dates(folder) == {"two": 1714521600.0, "one": 1714521600.0}


def dates(folder: Path) -> dict[str, float]:
    import sqlite3

    with contextlib.closing(sqlite3.connect(folder / "sanderling.db")) as db:
        return {
            url.rpartition("/")[2]: at for url, at in db.execute("SELECT url, modified FROM urls WHERE modified != 0")
        }


def test_without_sitemaps(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({"/": page(0, "/one"), "/one": page(1), "/two": page(2)}) as site:
        site.table["/sitemap.xml"] = sitemap(site.origin + "/two")
        for name, options in (("a", ["--no-sitemaps"]), ("b", ["--max-depth", "3"])):
            assert sanderling("crawl", site.origin, "-d", tmp_path / name, *FAST, *options).code == 0
            assert set(crawled(sanderling, tmp_path / name)) == {"", "one"}
        assert "/sitemap.xml" not in site.requests
        assert (
            sanderling("crawl", site.origin, "-d", tmp_path / "c", *FAST, "--max-pages", "3", "--json").json["pages"]
            == 3
        )


def test_a_page_that_a_sitemap_names_later_is_found_by_the_next_round(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({"/": page(0), "/one": page(1), "/two": page(2)}) as site:
        site.table["/sitemap.xml"] = sitemap(site.origin + "/one")
        folder = tmp_path / "crawl"
        assert sanderling("crawl", site.origin, "-d", folder, *FAST).code == 0
        site.table["/sitemap.xml"] = sitemap(site.origin + "/one", site.origin + "/two")
        assert sanderling("crawl", "-d", folder, "--again", "--no-sitemaps").code == 0
        assert site.requests["/sitemap.xml"] == 1
        assert sanderling("crawl", "-d", folder, "--again").code == 0
        assert set(crawled(sanderling, folder)) == {"", "one", "two"}
        assert site.requests["/sitemap.xml"] == 2


def test_sitemaps_that_nest_for_ever_lie_or_are_bombs(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({}) as site:
        home = site.origin
        names = ["deep-0.xml", "bomb.xml.gz", "lies.xml", "page.xml", "laughs.xml", "round-0.xml"]
        robots = "\n".join(f"Sitemap: {home}/{name}" for name in names)
        site.table |= {"/robots.txt": Answer(robots.encode(), "text/plain"), "/": page(0, "/one"), "/one": page(1)}
        for n in range(20):
            site.table[f"/deep-{n}.xml"] = sitemap(f"{home}/deep-{n + 1}.xml", tag="sitemap")
            site.table[f"/round-{n}.xml"] = redirect(f"/round-{n + 1}.xml")
        site.table["/bomb.xml.gz"] = Answer(gzip.compress(b"<urlset>" + b" " * 80_000_000), "application/gzip")
        site.table["/lies.xml"] = sitemap(
            "http://127.0.0.1:1/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            f"{home}/gone",
            f"{home}/one#x",
            "ftp://e.org/x",
        )
        site.table["/page.xml"] = page(9, "/never")
        site.table["/laughs.xml"] = Answer(
            b'<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>%s/&b;</loc></url></urlset>'
            % home.encode(),
            "application/xml",
        )
        folder = tmp_path / "crawl"
        ran = sanderling("crawl", home, "-d", folder, *FAST, "--json")
        assert ran.code == 0, ran.err
        assert set(crawled(sanderling, folder)) == {"", "one", "gone"}
        assert sum(path.startswith("/deep") for path in site.requests) == 4
        assert sum(path.startswith("/round") for path in site.requests) == 4
        assert ran.json["gone"] == 1
        (host,) = sanderling("status", folder, "--hosts", "--json").lines
        refused = {"not a sitemap: it is an HTML page", "not a sitemap: it declares entities"}
        assert host["sitemaps"]["not_read"].keys() == refused | {"sitemaps nested more than 3 deep"}
        assert f"{host['sitemaps']['read']} read" in sanderling("status", folder, "--hosts").out


def test_a_folder_and_its_index_page_are_one_page_if_they_say_the_same(sanderling: Run, tmp_path: Path) -> None:
    table = {"/": page(1, "/index.html", "/a/", "/b/", "/a/index.htm", "/b/index.php"), "/a/": page(2), "/b/": page(3)}
    table |= {"/index.html": table["/"], "/a/index.htm": table["/a/"], "/b/index.php": page(4)}
    with PageServer(table) as site:
        assert sanderling("crawl", site.origin, "-d", tmp_path / "c", *FAST).code == 0
        same = {path: row["same_as"] for path, row in crawled(sanderling, tmp_path / "c").items() if row["same_as"]}
        assert same == {"index.html": f"{site.origin}/", "a/index.htm": f"{site.origin}/a/"}


def test_an_index_page_is_recognised_when_its_folder_is_visited_in_a_later_run(sanderling: Run, tmp_path: Path) -> None:
    table = {"/index.html": page(1, "/")}
    table |= {"/": table["/index.html"]}
    with PageServer(table) as site:
        start = ("crawl", f"{site.origin}/index.html", "-d", tmp_path / "c", "--delay", 0)
        assert sanderling(*start, "--max-pages", 1).code == 0
        assert sanderling(*start, "--max-pages", 9).code == 0
        assert crawled(sanderling, tmp_path / "c")["index.html"]["same_as"] == f"{site.origin}/"


def test_a_folder_may_say_that_its_index_page_stands_for_both(sanderling: Run, tmp_path: Path) -> None:
    body = page(1, "/index.html", head='<link rel="canonical" href="/index.html">')
    with PageServer({"/": body, "/index.html": body}) as site:
        assert sanderling("crawl", site.origin, "-d", tmp_path / "c", *FAST).code == 0
        found = crawled(sanderling, tmp_path / "c")
        assert found[""]["same_as"] == f"{site.origin}/index.html" and not found["index.html"]["same_as"]
