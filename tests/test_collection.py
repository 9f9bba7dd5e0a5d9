"""A collection of at most K pages: the most important stay, leavers keep their history, and nothing
is forgotten."""

import random
from pathlib import Path

from sanderling.testing import DAY
from tests.conftest import FAST, Run, stored_urls
from tests.servers import WORDS, PageServer, links


def names(folder: str, count: int) -> list[str]:
    pairs = [f"{a}{b}" for a in WORDS for b in WORDS if a != b]
    return [f"/{folder}/{name}" for name in random.Random(folder).sample(pairs, count)]


def a_site() -> dict[str, bytes]:
    """The front page links to forty pages. All of them link to a hub that makes twenty other pages
    important."""
    alone, together = names("alone", 40), names("together", 20)
    table = {"/": links(*alone), "/hub": links(*together)}
    table |= {path: links("/", "/hub") for path in alone}
    table |= {path: links("/hub", *together) for path in together}
    return {path: prose(path) + body for path, body in table.items()}


def prose(path: str) -> bytes:
    said = " ".join(random.Random(path).choices(WORDS, k=60))
    return f"<title>{path}</title><p>{said}</p>".encode()


def test_the_most_important_pages_stay(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer(a_site()) as server:
        ran = sanderling(
            "crawl", server.origin + "/", "-d", folder, "--collection", 30, "--order", "breadth-first", *FAST
        )
        assert ran.code == 0, ran.err
        assert "the collection keeps the 30 most important pages" in ran.out and "later retry" not in ran.out
        rows = {row["url"].removeprefix(server.origin): row for row in sanderling("pages", folder, "--json").lines}
        inside = {path for path, row in rows.items() if row["state"] == "fetched"}
        left = {path for path, row in rows.items() if row["state"] == "excluded"}
        assert len(inside) == 30 and left
        assert {"/", "/hub"} <= inside and sum(path.startswith("/together/") for path in inside) >= 18
        assert all(path.startswith("/alone/") for path in left)
        leaver = sorted(left)[0]
        assert "left the collection" in rows[leaver]["reason"]
        # It keeps its history and its archive, and is not visited again.
        assert len(sanderling("history", folder, server.origin + leaver, "--json").lines) == 1
        assert server.origin + leaver in stored_urls(folder)
        # Only a search in the past finds it.
        found = [sanderling("search", folder, f'"{leaver}"', *flags, "--json").lines for flags in ((), ("--versions",))]
        hits = [[hit["url"].removeprefix(server.origin) for hit in each] for each in found]
        assert leaver not in hits[0] and leaver in hits[1]
        server.asked.clear()
        later = {"SANDERLING_AHEAD": str(9 * DAY)}
        again = sanderling("refresh", folder, "--budget", 60, "--json", *FAST, env=later)
        assert again.code == 0, again.err
        assert not {asked.url for asked in server.asked} & left
        rows = {row["url"]: row for row in sanderling("pages", folder, "--json").lines}
        assert sum(row["state"] == "fetched" for row in rows.values()) == 30


def test_a_page_that_is_always_kept_stays_and_nothing_around_it_is_crawled(sanderling: Run, tmp_path: Path) -> None:
    """The least important page stays when it is named, later, too; one of another host brings
    no other page of that host."""
    folder = tmp_path / "crawl"
    with PageServer(a_site()) as server, PageServer({"/one": links("/two"), "/two": prose("/two")}) as other:
        flags = ("-d", folder, "--collection", 30, "--order", "breadth-first", *FAST)
        first, later = names("alone", 40)[:2]
        kept = ["--always", server.origin + first, "--always", other.origin + "/one"]

        def inside() -> set[str]:
            rows = sanderling("pages", folder, "--json").lines
            return {row["url"] for row in rows if row["state"] == "fetched"}

        assert sanderling("crawl", server.origin + "/", *flags, *kept).code == 0
        assert {server.origin + first, other.origin + "/one"} <= inside() and len(inside()) == 30
        ran = sanderling("crawl", server.origin + "/", *flags, *kept, "--always", server.origin + later)
        assert ran.code == 0, ran.err
        assert {server.origin + first, server.origin + later} <= inside() and len(inside()) == 30
        assert other.origin + "/two" not in inside()
        bad = sanderling("crawl", server.origin + "/", "-d", tmp_path / "bad", "--always", "news of the day")
        assert bad.code == 2 and "not the URL of a page" in bad.err


def test_authorities_stay_if_that_is_the_order(sanderling: Run, tmp_path: Path) -> None:
    """Forty pages with one link each are found first. All of them link to twenty others."""
    alone, popular = names("alone", 40), names("popular", 20)
    table = {"/": links(*alone)} | {path: links(*popular) for path in alone} | {path: links("/") for path in popular}
    with PageServer({path: prose(path) + body for path, body in table.items()}) as server:
        crawl = ("crawl", server.origin + "/", "-d", tmp_path / "c", "--collection", 30, "--order", "authority")
        assert sanderling(*crawl, *FAST).code == 0
        rows = sanderling("pages", tmp_path / "c", "--json").lines
        inside = {row["url"].removeprefix(server.origin) for row in rows if row["state"] == "fetched"}
        assert len(inside) == 30 and {*popular} <= inside


def test_a_collection_of_nothing_is_refused(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", "--collection", 0)
    assert ran.code == 2 and "has to be more than 0" in ran.err
