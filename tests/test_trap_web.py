"""Crawls of endless webs end, and finite webs are not mistaken for endless ones."""

import subprocess
from pathlib import Path
from subprocess import DEVNULL

import pytest

from sanderling.server.gate.traps import GIVE_UP_AFTER
from sanderling.testing import FaultServer, SyntheticWeb, TrapWeb
from tests.conftest import FAST, Run, command, started, stored_urls
from tests.servers import Answer, PageServer, links
from tests.waiting import PATIENCE, until

# The traps have up to eight patterns. Each is visited hundreds of times before it is given up. The
# rest is what was under way, samples, and the hosts of the domain.
MOST_WASTED = 8 * GIVE_UP_AFTER + 400


@pytest.mark.parametrize(
    ("manners", "echo"), [(("--delay", "0.001"), False), (FAST, False), (FAST, True)],
    ids=["one after the other", "many at a time", "no two pages the same"],
)  # fmt: skip
def test_a_trap_web_is_crawled_to_its_end(
    sanderling: Run, tmp_path: Path, manners: tuple[str, ...], echo: bool
) -> None:
    with TrapWeb(pages=900, echo=echo).serve() as site:
        folder = tmp_path / "crawl"
        ran = sanderling(
            "crawl",
            site.url,
            "-d",
            folder,
            "--proxy",
            site.proxy,
            "--scope",
            "domain",
            *manners,
            "--no-index",
            "--json",
        )
        assert ran.code == 0, ran.err
        assert len(site.found) >= 0.95 * len(site.real)
        assert site.wasted <= MOST_WASTED
        assert ran.json["queued"] == 0
        held = sanderling("pages", folder, "--held", "--json").lines
        assert {row["state"] for row in held} == {"known"}
        reasons = {row["reason"] for row in held}
        assert all(reason.startswith("held: ") for reason in reasons)
        assert any("/calendar/" in reason for reason in reasons)
        assert any("trap.test" in reason for reason in reasons)
        assert len(held) == sanderling("status", folder, "--json").json["held"]
        hosts = {row["host"]: row for row in sanderling("status", folder, "--hosts", "--json").lines}
        home = hosts["http://trap.test"]
        assert list(home["ignored_parameters"]) == ["visit"]
        assert "/calendar/0/0/0/" in {trap["pattern"] for trap in home["traps"]}
        before = site.answered
        assert sanderling("crawl", "-d", folder).code == 0  # what was held back is not forgotten, nor fetched at last
        assert site.answered <= before + 40


def test_a_crawl_that_is_killed_learns_nothing_twice(tmp_path: Path) -> None:
    """What visits taught is committed with them."""
    flags = ("--scope", "domain", *FAST, "--no-index", "--render", "never")
    with TrapWeb(pages=300).serve() as site:
        for _ in range(4):
            before = site.answered
            with started(
                "crawl", site.url, "-d", tmp_path / "c", "--proxy", site.proxy, *flags, stderr=DEVNULL
            ) as crawl:
                until(lambda before=before: site.answered >= before + 100 or crawl.poll() is not None)
        done = command("crawl", "-d", tmp_path / "c")
        assert subprocess.run(done, capture_output=True, timeout=PATIENCE).returncode == 0
        assert len(site.found) >= 0.95 * len(site.real)
    assert len(stored_urls(tmp_path / "c")) <= 300 + MOST_WASTED


def test_a_site_with_thousands_of_pages_of_one_pattern_loses_none(sanderling: Run, tmp_path: Path) -> None:
    web = SyntheticWeb(hosts=1, pages=1500, seed=3, links=40)
    with web.serve() as site:
        ran = sanderling("crawl", site.url, "-d", tmp_path / "crawl", *FAST, "--json", "--no-sitemaps")
        assert ran.json["pages"] == len(site.direct.reachable(0))
        assert sanderling("status", tmp_path / "crawl", "--json").json["held"] == 0


def test_a_list_of_numbered_pages_is_fetched_whole(sanderling: Run, tmp_path: Path) -> None:
    """All pages have one pattern and are known from the first page. Some repeat each other."""
    table = {
        f"/item/{n}": f"<p>{'sold' if n % 3 else f'thing {chr(97 + n % 26) * 5} {word(n)}'}</p>".encode()
        for n in range(300)
    }
    table["/"] = b"<p>All items</p>" + links(*(f"/item/{n}" for n in range(300)))
    with PageServer(table) as site:
        ran = sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *FAST, "--json")
        assert ran.json["pages"] == 301


def word(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_a_soft_404_is_recognised(sanderling: Run, tmp_path: Path) -> None:
    """The host answers "no such page" with status 200 to every address."""

    class Everything(dict[str, Answer | bytes]):
        def get(self, path: str, default: object = None) -> Answer | bytes:  # type: ignore[override]
            return self[path] if path in self else Answer(b"<p>Sorry, there is no such page on this site.</p>")

    names = ["".join(pair) for pair in zip("abcdefghijkl", "nopqrstuvwxy", strict=True)]
    table = Everything({"/": b"<p>Welcome to a site that hardly exists</p>" + links(*(f"/{n}/{n}" for n in names))})
    with PageServer(table) as site:
        site.table = table
        folder = tmp_path / "crawl"
        assert sanderling("crawl", site.origin, "-d", folder, "--delay", "0.05").code == 0
        soft = [row for row in sanderling("pages", folder, "--json").lines if row["reason"].startswith("soft 404")]
        assert 0 < len(soft) <= len(names)
        assert sanderling("status", folder, "--hosts", "--json").lines[0]["soft_404"] is True
        strangers = [path for path in site.requests if "does-not-exist" in path or path == "/sitemap.xml"]
        assert len(strangers) <= 2


@pytest.mark.parametrize("name", ["trap-calendar/0", "trap-path/", "trap-query", "trap-session"])
def test_every_trap_ends(sanderling: Run, tmp_path: Path, name: str) -> None:
    with FaultServer() as faults:
        ran = sanderling("crawl", faults.url(name), "-d", tmp_path / "crawl", *FAST, "--max-time", "100s", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["queued"] == 0
        assert ran.json["pages"] < 5 * GIVE_UP_AFTER


def test_pages_that_differ_in_numbers_only_are_different_pages(sanderling: Run, tmp_path: Path) -> None:
    """A chain of pages, an album and a list of stations: all of these end."""
    chain = {f"/book/{n}": f"<p>Page {n} of a book</p><a href=/book/{n + 1}>next</a>".encode() for n in range(40)}
    album = {f"/al/{n}.html": f"<p>Photo {n} of 80</p>".encode() + links(f"/al/{n + 1}.html") for n in range(80)}
    stations = {f"/s/{n}": f"<p>Station {n}: water level {n * 37 % 400} cm</p>".encode() for n in range(400)}
    table = chain | album | stations
    table["/"] = b"<p>Everything</p>" + links("/book/0", "/al/0.html", *stations)
    with PageServer(table) as site:
        assert sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *FAST).code == 0
        assert not table.keys() - site.requests.keys()


def test_held_pages_are_sampled_when_nothing_else_is_left(sanderling: Run, tmp_path: Path) -> None:
    """A long run of copies gives up their pattern, also of what is listed. Beyond it are pages
    that exist nowhere else.
    """
    unique = {f"/item/{n}": f"<p>thing {word(n)} {word(n * 7919)}</p>".encode() for n in range(900, 1000)}
    table = {f"/item/{n}": b"<p>sold out</p>" for n in range(900)} | unique
    table["/"] = b"<p>All items</p>" + links(*table)
    with PageServer(table) as site:
        assert sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *FAST).code == 0
        assert unique.keys() <= site.requests.keys()
        assert len(site.requests) < len(table)


def test_nothing_is_held_back_when_nothing_shall_be(sanderling: Run, tmp_path: Path) -> None:
    table = {f"/item/{n}": b"<p>sold out</p>" + links(f"/item/{n + 1}") for n in range(2 * GIVE_UP_AFTER)}
    table["/"] = b"<p>All items</p>" + links("/item/0")
    with PageServer(table) as site:
        folder = tmp_path / "crawl"
        ran = sanderling("crawl", site.origin, "-d", folder, *FAST, "--json")
        assert ran.json["held"] > 0 and GIVE_UP_AFTER < ran.json["pages"] < 2 * GIVE_UP_AFTER
        ran = sanderling("crawl", "-d", folder, *FAST, "--no-hold", "--json")  # what was held before is visited, too
        assert (ran.json["held"], ran.json["pages"]) == (0, 2 * GIVE_UP_AFTER + 1)
