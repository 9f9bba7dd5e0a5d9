"""Hosts that show the same pages are visited at one of them. Requests are counted at the web
server."""

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from subprocess import DEVNULL

import pytest

from sanderling.testing.prose import sentences
from tests.conftest import Run, command, started
from tests.servers import PageServer, links
from tests.waiting import PATIENCE, until
from tests.web.served import running

ONE, TWO = "http://one.test", "http://two.test"
COUNT = 150
ANYWHERE = ("--scope", "any", "--no-sitemaps", "--render", "never", "--per-host", "4", "--delay", "0")
# Pages that are fetched of a mirror until it is known as one, and as samples.
SOME = 100


LATER = {"SANDERLING_AHEAD": "864000"}


def word(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def text(seed: object) -> str:
    return " ".join(Random(str(seed)).sample(sentences(0), 8))


def html(content: str, *targets: str, language: str = "en") -> bytes:
    return f'<html lang="{language}"><body><p>{content}</p>'.encode() + links(*targets) + b"</body></html>"


def tree(home: str, contents: Iterable[object], **options: str) -> dict[str, bytes]:
    """A site of pages `/p-a`, `/p-b`, ..., each with relative links to three others."""
    known = list(contents)
    site = {
        f"{home}/p-{word(n)}": html(text(content), *(f"p-{word(m)}" for m in (2 * n + 1, 2 * n + 2, n + 1) if m < len(known)), **options)
        for n, content in enumerate(known)
    }  # fmt: skip
    return site | {f"{home}/": html(text(f"{known[0]} front"), "p-a", **options)}


def start(*homes: str) -> dict[str, bytes]:
    """A page that links to all sites, and is the seed."""
    return {"http://start.test/": html(text("start"), *(f"{home}/" for home in homes))}


def named_by(one: str, two: str) -> dict[str, bytes]:
    """Two sites with the same pages, of which the first one links to the second."""
    front = {f"{one}/": html(text("0 front"), "p-a", f"{two}/")}
    return tree(one, range(COUNT)) | tree(two, range(COUNT)) | front


def asked(site: PageServer) -> Counter[str]:
    """How many pages each host was asked for."""
    return Counter(url.rpartition("/")[0] for url in site.requests.elements() if not url.endswith("robots.txt"))


def hosts(sanderling: Run, folder: object) -> dict[str, str | None]:
    return {row["host"]: row["mirror_of"] for row in sanderling("status", folder, "--hosts", "--json").lines}


def crawl(sanderling: Run, site: PageServer, folder: object, *flags: str, seed: str = "http://start.test/") -> None:
    ran = sanderling("crawl", seed, "-d", folder, "--proxy", site.origin, *ANYWHERE, *flags)
    assert ran.code == 0, ran.err


def test_a_mirror_is_not_downloaded_again(sanderling: Run, tmp_path: Path) -> None:
    table = start(ONE, TWO) | tree(ONE, range(COUNT)) | tree(TWO, range(COUNT))
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c")
        fewer, more = sorted(asked(site)[home] for home in (ONE, TWO))
        assert more == COUNT + 1
        assert fewer <= SOME
        mirrors = {host: of for host, of in hosts(sanderling, tmp_path / "c").items() if of}
        assert mirrors in ({ONE: TWO}, {TWO: ONE})
        ((mirror, original),) = mirrors.items()
        held = sanderling("pages", tmp_path / "c", "--held", "--json").lines
        assert {row["reason"] for row in held} == {f"held: its host shows the pages of {original}"}
        assert all(row["url"].startswith(mirror) for row in held)
        assert f"mirror of  {original}, {len(held):,} URLs held" in sanderling("status", tmp_path / "c", "--hosts").out
        before = len(site.asked)
        assert sanderling("crawl", "-d", tmp_path / "c").code == 0
        assert len(site.asked) <= before + 4  # what was held back is not forgotten
    with running(tmp_path / "c") as dashboard:
        items = dashboard.http.get("/api/v1/crawls/c/hosts").json()["items"]
        assert {item["origin"]: item["mirror_of"] for item in items if item["mirror_of"]} == mirrors
        until(lambda: "URLs held" in dashboard.http.get("/crawls/c/hosts").text)
        assert f"<dt>Mirror of</dt><dd><bdi>{original}</bdi>, " in dashboard.http.get("/crawls/c/hosts").text


def test_no_hold_visits_everything(sanderling: Run, tmp_path: Path) -> None:
    table = start(ONE, TWO) | tree(ONE, range(COUNT)) | tree(TWO, range(COUNT))
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "whole", "--no-hold")
        assert asked(site)[ONE] == asked(site)[TWO] == COUNT + 1
        site.asked.clear()
        crawl(sanderling, site, tmp_path / "later")
        assert asked(site)[ONE] + asked(site)[TWO] < 2 * COUNT
        assert sanderling("crawl", "-d", tmp_path / "later", "--no-hold").code == 0
        assert asked(site)[ONE] == asked(site)[TWO] == COUNT + 1


def test_hosts_that_the_user_named_are_no_mirrors(sanderling: Run, tmp_path: Path) -> None:
    table = tree(ONE, range(COUNT)) | tree(TWO, range(COUNT))
    with PageServer(table) as site:
        ran = sanderling("crawl", f"{ONE}/", f"{TWO}/", "-d", tmp_path / "c", "--proxy", site.origin, *ANYWHERE)
        assert ran.code == 0
        assert asked(site)[ONE] == asked(site)[TWO] == COUNT + 1


def test_the_seed_is_visited_and_not_its_mirror(sanderling: Run, tmp_path: Path) -> None:
    with PageServer(named_by(ONE, TWO)) as site:
        crawl(sanderling, site, tmp_path / "c", seed=f"{ONE}/")
        assert asked(site)[ONE] == COUNT + 1
        assert asked(site)[TWO] <= SOME


def test_a_site_with_a_twin_and_a_mirror_is_visited_once(sanderling: Run, tmp_path: Path) -> None:
    homes = [ONE, "http://www.one.test", TWO]
    table = start(*homes)
    for home in homes:
        table |= tree(home, range(COUNT))
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c")
        assert {url.rpartition("/")[2] for url in site.requests} >= {f"p-{word(n)}" for n in range(COUNT)}
        assert sum(asked(site)[home] for home in homes) <= COUNT + 1 + 2 * SOME
        again = len(site.asked)
        assert sanderling("crawl", "-d", tmp_path / "c").code == 0
        assert len(site.asked) <= again + 8


def test_what_only_the_mirror_has_is_visited(sanderling: Run, tmp_path: Path) -> None:
    """Late pages of the mirror are on no other host. Nothing is lost."""
    table = named_by(ONE, TWO)
    extra = [f"extra-{word(n)}" for n in range(2)]
    table[f"{TWO}/p-{word(COUNT - 1)}"] = html(text(COUNT - 1), *extra)
    table["http://three.test/"] = html(text("three"), *(f"{TWO}/{name}" for name in extra))
    table[f"{ONE}/p-{word(COUNT - 1)}"] = html(text(COUNT - 1), "http://three.test/")
    table |= {f"{TWO}/{name}": html(text(name)) for name in extra}
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c", seed=f"{ONE}/")
        assert all(site.requests[f"{TWO}/{name}"] == 1 for name in extra)
        assert hosts(sanderling, tmp_path / "c")[TWO] == ONE
        assert asked(site)[TWO] <= SOME


@pytest.mark.parametrize(
    "other",
    [
        tree(TWO, [n if n % 2 else f"own {n}" for n in range(COUNT)]),
        {url.replace("p-", "q-"): body.replace(b"p-", b"q-") for url, body in tree(TWO, range(COUNT)).items()},
        tree(TWO, range(COUNT), language="de"),
    ],
    ids=["half of the pages differ", "other paths", "another language"],
)
def test_what_is_no_mirror_is_visited_whole(sanderling: Run, tmp_path: Path, other: dict[str, bytes]) -> None:
    with PageServer(start(ONE, TWO) | tree(ONE, range(COUNT)) | other) as site:
        crawl(sanderling, site, tmp_path / "c")
        assert asked(site)[ONE] == asked(site)[TWO] == COUNT + 1
        assert not any(hosts(sanderling, tmp_path / "c").values())


def test_a_host_with_half_of_its_pages_from_another_loses_none(sanderling: Run, tmp_path: Path) -> None:
    """The mirrored half comes first, so it is taken for a mirror until its own pages appear. Only
    pages of the mirrored half link to these."""
    table = tree(ONE, range(COUNT)) | tree(TWO, [*range(COUNT), *(f"own {n}" for n in range(COUNT))])
    table[f"{ONE}/"] = html(text("0 front"), "p-a", f"{TWO}/")
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c", seed=f"{ONE}/")
        assert all(site.requests[url] for url in table)
        assert not any(hosts(sanderling, tmp_path / "c").values())


def test_shops_with_one_template_are_visited_whole(sanderling: Run, tmp_path: Path) -> None:
    """Their pages differ in a few words, and their terms in none."""
    frame = " ".join(sentences(0)[:60])
    table = start(ONE, TWO)
    for home in (ONE, TWO):
        names = [Random(f"{home}{n}").sample(text(f"{home}{n}").split(), 3) for n in range(60)]
        table |= {f"{home}/item-{word(n)}": html(f"{frame} {' '.join(name)}") for n, name in enumerate(names)}
        legal = [f"legal-{word(n)}" for n in range(7)]
        table |= {f"{home}/{name}": html(text(name)) for name in legal}
        table[f"{home}/"] = html(f"Shop {home} {text(home)}", *legal, *(f"item-{word(n)}" for n in range(60)))
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c")
        assert asked(site)[ONE] == asked(site)[TWO] == 68
        assert not any(hosts(sanderling, tmp_path / "c").values())


def test_parked_hosts_are_no_mirrors(sanderling: Run, tmp_path: Path) -> None:
    parked = html(text("for sale"), *(f"offer-{word(n)}" for n in range(30)))
    table = start(ONE, TWO)
    for home in (ONE, TWO):
        table |= {f"{home}/": parked} | {f"{home}/offer-{word(n)}": parked for n in range(30)}
    with PageServer(table) as site:
        crawl(sanderling, site, tmp_path / "c")
        assert not any(hosts(sanderling, tmp_path / "c").values())


def test_a_mirror_that_goes_its_own_way_is_released(sanderling: Run, tmp_path: Path) -> None:
    """A refresh visits the pages again that were fetched of it, and others when these differ."""
    with PageServer(named_by(ONE, TWO)) as site:
        crawl(sanderling, site, tmp_path / "c", seed=f"{ONE}/")
        assert hosts(sanderling, tmp_path / "c")[TWO] == ONE
        assert asked(site)[TWO] <= SOME
        later = tree(TWO, (f"later {n}" for n in range(COUNT)))
        site.table |= later
        ran = sanderling("refresh", tmp_path / "c", "--budget", 500, "--max-pages", 500, env=LATER)
        assert ran.code == 0, ran.err
        assert hosts(sanderling, tmp_path / "c")[TWO] is None
        assert sanderling("crawl", "-d", tmp_path / "c").code == 0
        assert all(site.requests[url] for url in later)
        assert not sanderling("pages", tmp_path / "c", "--held", "--json").lines


def test_a_refresh_visits_new_pages_at_one_host(sanderling: Run, tmp_path: Path) -> None:
    with PageServer(named_by(ONE, TWO)) as site:
        crawl(sanderling, site, tmp_path / "c", seed=f"{ONE}/")
        new = [f"new-{word(n)}" for n in range(40)]
        for home, beside in ((ONE, [f"{TWO}/"]), (TWO, [])):
            site.table[f"{home}/"] = html(text("0 front"), "p-a", *beside, *new)
            site.table |= {f"{home}/{name}": html(text(name)) for name in new}
        site.asked.clear()
        ran = sanderling("refresh", tmp_path / "c", "--budget", 500, "--max-pages", 500, env=LATER)
        assert ran.code == 0, ran.err
        assert all(site.requests[f"{ONE}/{name}"] == 1 for name in new)
        assert sum(site.requests[f"{TWO}/{name}"] for name in new) < 10
        assert hosts(sanderling, tmp_path / "c")[TWO] == ONE


def test_a_crawl_that_is_killed_knows_its_mirrors(tmp_path: Path, kept_in: list[object]) -> None:
    table = start(ONE, TWO) | tree(ONE, range(COUNT)) | tree(TWO, range(COUNT))
    flags = (*ANYWHERE, "--no-index", "--render", "never", *kept_in)
    with PageServer(table) as site:
        for _ in range(4):
            before = len(site.asked)
            with started(
                "crawl", "http://start.test/", "-d", tmp_path / "c", "--proxy", site.origin, *flags, stderr=DEVNULL
            ) as run:
                until(lambda before=before: len(site.asked) >= before + 40 or run.poll() is not None)
        done = command("crawl", "-d", tmp_path / "c")
        assert subprocess.run(done, capture_output=True, timeout=PATIENCE).returncode == 0
        different = Counter(url.rpartition("/")[0] for url in site.requests if not url.endswith("robots.txt"))
        fewer, more = sorted(different[home] for home in (ONE, TWO))
        assert more == COUNT + 1
        assert fewer <= SOME + 20
