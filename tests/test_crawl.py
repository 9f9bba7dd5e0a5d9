"""Whole crawls, run as a user runs them, against real sockets."""

import json
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from sanderling.server.frontier.allocator import LARGEST_STOCK
from sanderling.server.requests import remote
from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import FAST, PATIENT, command, said, started, stored_urls
from tests.servers import WORDS, PageServer, links
from tests.waiting import PATIENCE, until

FAST_CONNECTIONS = 8


def urls(sanderling, folder: Path) -> set[str]:  # type: ignore[no-untyped-def]
    return {page["url"] for page in sanderling("pages", folder, "--json").lines if page["status"] == 200}


def test_a_whole_site_each_page_once(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", web.url, "-d", folder, *FAST)
    assert ran.code == 0, ran.err
    expected = web.direct.reachable(0)
    assert urls(sanderling, folder) == expected
    assert Counter(stored_urls(folder)) == Counter(expected)
    assert Counter(web.requests) == Counter(expected)
    assert f"{len(expected)} pages" in ran.out
    assert "sanderling search" in ran.out
    again = sanderling("crawl", "-d", folder)
    assert again.code == 0
    assert sum(web.requests.values()) == len(expected)


def test_many_hosts_through_a_proxy(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with SyntheticWeb(hosts=12, pages=120, seed=9).serve() as site:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("# front pages\n" + "\n".join(site.seeds[:3]))
        folder = tmp_path / "crawl"
        ran = sanderling("crawl", "--seeds", seeds, "-d", folder, "--proxy", site.proxy, "--scope", "any", "--delay", 0)
        assert ran.code == 0, ran.err
        assert urls(sanderling, folder) == site.web.reachable(0, site.seeds[:3])
        assert max(site.peak_by_host.values()) == 1


def test_the_keys_that_scripts_rely_on(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    summary = sanderling("crawl", web.url, "-d", folder, *FAST, "--json").json
    assert summary["fetched"] == len(web.direct.reachable(0))
    status = sanderling("status", folder, "--json").json
    assert {"known", "queued", "leased", "fetched", "failed", "gone", "versions", "bytes"} <= status.keys()
    assert status["fetched"] == status["versions"] == summary["fetched"]
    page = sanderling("pages", folder, "--json").lines[0]
    assert {
        "url",
        "status",
        "depth",
        "fetched_at",
        "changed_at",
        "visits",
        "changes",
        "importance",
        "digest",
        "title",
    } <= page.keys()
    assert "fetched" in sanderling("status", folder).out
    assert web.url in sanderling("pages", folder).out


@pytest.mark.parametrize("limit", [1, 17, 60])
def test_the_page_limit_is_exact(sanderling, web: ServedWeb, tmp_path: Path, limit: int) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", web.url, "-d", folder, *FAST, "--max-pages", limit, "--json")
    assert ran.json["pages"] == limit
    assert sum(web.requests.values()) == limit
    more = sanderling("crawl", "-d", folder, "--max-pages", limit + 5, "--json")
    assert more.json["pages"] == limit + 5


@pytest.mark.parametrize(("limit", "raised"), [("--max-pages", "N"), ("--max-bytes", "SIZE"), ("--max-time", "")])
def test_a_limit_of_nothing(sanderling, web: ServedWeb, tmp_path: Path, limit: str, raised: str) -> None:  # type: ignore[no-untyped-def]
    ran = sanderling("crawl", web.url, "-d", tmp_path / "crawl", *FAST, limit, 0)
    assert ran.code == 0 and not web.requests
    more = f" {limit} {raised}" if raised else ""
    assert (
        f"1 still queued (a limit was reached); `sanderling crawl -d {tmp_path / 'crawl'}{more}` continues" in ran.out
    )


def test_depth_is_the_shortest_way_from_the_seed(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    depths, level = {web.url: 0}, {web.url}
    for depth in (1, 2):
        level = {link for page in level for link in web.direct.links_at(page, 0)} - depths.keys()
        depths |= dict.fromkeys(level, depth)
    folder = tmp_path / "crawl"
    assert sanderling("crawl", web.url, "-d", folder, *FAST, "--max-depth", 2).code == 0
    found = {page["url"]: page["depth"] for page in sanderling("pages", folder, "--json").lines}
    alive = web.direct.reachable(0)
    assert found == {url: depth for url, depth in depths.items() if url in alive}


def test_a_time_limit(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with SyntheticWeb(hosts=1, pages=40, seed=6).serve() as site:
        site.hold(after=20)  # without a limit it would go on for ever
        started = time.monotonic()
        ran = sanderling("crawl", site.url, "-d", tmp_path / "t", *PATIENT, "--max-time", "3s", "--json")
        assert ran.code == 0 and time.monotonic() - started >= 3
        assert ran.json["pages"] <= 20


def test_a_byte_limit(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with SyntheticWeb(hosts=1, pages=800, seed=6, latency=0.01).serve() as site:
        ran = sanderling("crawl", site.url, "-d", tmp_path / "b", "--delay", 0, "--max-bytes", "20KiB", "--json")
        assert ran.json["bytes"] >= 20 * 1024
        assert ran.json["pages"] < 20 + LARGEST_STOCK  # what was leased before a report said so is still fetched


def test_a_byte_limit_ends_what_is_waiting_for_its_turn(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    paths = [f"/{word}" for word in WORDS]
    table = {"/": links(*paths), **{path: path.encode() * 200 for path in paths}}
    with PageServer(table) as server:
        ran = sanderling(
            "crawl", server.origin, "-d", tmp_path / "b", "--delay", 1, "--max-bytes", "600", "--no-sitemaps", "--json"
        )
        assert ran.json["bytes"] >= 600
        assert ran.json["queued"] >= len(paths) - 2, "one that met the limit, and perhaps one that was on its way"


def test_interrupting_waits_for_nobody_and_can_be_resumed(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=300, seed=8).serve() as site:
        site.hold(after=100)
        with started("crawl", site.url, "-d", folder, *FAST, *PATIENT, stdout=PIPE, stderr=PIPE) as process:
            until(lambda: site.held)
            until(lambda: remote.look(folder, PATIENCE).counts.pages == 100)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the clients, too
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert "still queued" in out
        assert sum(site.requests.values()) <= 100 + FAST_CONNECTIONS
        site.release()
        assert sanderling("crawl", "-d", folder).code == 0
        expected = site.direct.reachable(0)
        assert Counter(stored_urls(folder)) == Counter(expected)
        assert sum(site.requests.values()) <= len(expected) + FAST_CONNECTIONS


def test_a_client_joins_a_running_crawl(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"

    def workers() -> int:
        return sum(client.visits > 0 for client in remote.look(folder, PATIENCE).clients)

    with SyntheticWeb(hosts=1, pages=1000, seed=8).serve() as site:
        site.hold(after=100)
        with started("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--clients", 1, stdout=DEVNULL) as crawl:
            until(lambda: site.held)
            with started("join", folder) as joined:
                until(lambda: len(remote.look(folder, PATIENCE).clients) == 2)
                for pages in range(120, 1000, 20):
                    site.hold(after=20)
                    until(lambda pages=pages: remote.look(folder, PATIENCE).counts.pages == pages)
                    if workers() == 2:
                        break
                site.release()
                assert crawl.wait(PATIENCE) == 0
                assert joined.wait(PATIENCE) == 0
        assert len(list((folder / "warc").iterdir())) == 2
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))
    ran = sanderling("join", folder)
    assert ran.code == 2
    assert "no crawl is running" in ran.err


def test_a_folder_in_use_is_refused_and_can_be_read(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=300, seed=8).serve() as site:
        site.hold(after=5)
        with started("crawl", site.url, "-d", folder, *PATIENT, stdout=DEVNULL, stderr=DEVNULL) as crawl:
            until(lambda: site.held)
            second = sanderling("crawl", site.url, "-d", folder)
            assert second.code == 1
            assert f"in use by process {crawl.pid}" in second.err
            status = sanderling("status", folder, "--json").json
            assert status["running"] is True
            assert status["known"] > 0
            crawl.send_signal(signal.SIGTERM)
            assert crawl.wait(PATIENCE) == 143


def test_exports(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from warcio.archiveiterator import ArchiveIterator

    folder = tmp_path / "crawl"
    sanderling("crawl", web.url, "-d", folder, *FAST)
    expected = web.direct.reachable(0)
    for kind in ("warc", "jsonl", "links", "cdxj"):
        assert sanderling("export", folder, "--format", kind, "-o", tmp_path / kind).code == 0
    beside = {web.url + name for name in ("robots.txt", "sitemap.xml")}
    with (tmp_path / "warc").open("rb") as file:
        assert {
            r.rec_headers.get_header("WARC-Target-URI") for r in ArchiveIterator(file) if r.rec_type == "response"
        } == expected | beside
    rows = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    assert {row["url"] for row in rows} == expected
    assert all(row["text"] and row["title"] for row in rows)
    edges = {tuple(line.split("\t")) for line in (tmp_path / "links").read_text().splitlines()}
    assert {target for source, target in edges if source == web.url} == set(web.direct.links_at(web.url, 0))
    lines = (tmp_path / "cdxj").read_text().splitlines()
    assert {json.loads(line.split(" ", 2)[2])["url"] for line in lines} == expected | beside
    assert lines == sorted(lines)
    refused = sanderling("export", folder, "--format", "jsonl", "-o", tmp_path / "jsonl")
    assert refused.code == 2
    assert "exists" in refused.err
    assert sanderling("export", folder, "--format", "jsonl", "-o", "-").out.count("\n") == len(expected)


def test_few_connections_are_all_used_when_hosts_wait(tmp_path: Path) -> None:
    """A long list of URLs of one host, which takes one connection, is not all that a client
    holds."""
    web = SyntheticWeb(hosts=12, pages=360, seed=2)
    seeds = tmp_path / "seeds.txt"
    with web.serve() as site:
        seeds.write_text("\n".join(site.seeds))
        site.hold(after=150)
        limits = ("--connections", 6, "--clients", 1, "--delay", 0, "--no-hold", "--render", "never")
        with started("crawl", "--seeds", seeds, "-d", tmp_path / "c", "--scope", "any", "--proxy", site.proxy, *limits):
            until(lambda: site.held == 6)


def test_manners_by_default(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """One connection, robots obeyed, a pause of four times the server's time."""
    web = SyntheticWeb(hosts=1, pages=12, seed=2, latency=0.05)
    with web.serve(robots="User-agent: *\nDisallow: /*7", record=True) as site:
        ran = sanderling("crawl", site.url, "-d", tmp_path / "crawl", "--clients", 2, "--json")
        assert ran.code == 0
        assert site.peak_in_flight == 1
        assert not any("7" in url.rpartition(":")[2].partition("/")[2] for url in site.requests)
        assert sum(site.robots_requests.values()) == 1
        times = [visit.at for visit in site.visits if not visit.url.endswith("robots.txt")]
        pauses = [b - a for a, b in pairwise(times)]
        assert min(pauses) >= 0.2
        excluded = sanderling("status", tmp_path / "crawl", "--json").json["excluded"]
        assert excluded == ran.json["excluded"]


# The clock is set while the crawl runs.
CLOCK = """
import pathlib
import time

real, ahead = time.time, pathlib.Path(__file__).with_name("ahead")
time.time = lambda: real() + float(ahead.read_text() or 0)
"""


@pytest.mark.parametrize("by", [-7200, 7200])
def test_a_clock_that_is_set_while_a_crawl_runs(tmp_path: Path, web: ServedWeb, by: int) -> None:
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    web.hold(after=40)
    crawl = ("crawl", web.url, "-d", tmp_path / "crawl", "--delay", "5ms", "--retries", 0, "--json", *PATIENT)
    with started(*crawl, env=env, stdout=PIPE, stderr=DEVNULL) as process:
        until(lambda: web.held)
        ahead.write_text(str(by))
        web.release()
        summary = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert (summary["pages"], summary["queued"], summary["clients_replaced"]) == (120, 0, 0)


def test_crawl_delay(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with SyntheticWeb(hosts=1, pages=5, seed=2).serve(robots="User-agent: *\nCrawl-delay: 0.4", record=True) as site:
        assert sanderling("crawl", site.url, "-d", tmp_path / "crawl", "--max-pages", 4).code == 0
        times = [visit.at for visit in site.visits]
        assert min(b - a for a, b in pairwise(times)) >= 0.39


def test_a_full_disk_stops_cleanly(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", web.url, "-d", folder, *FAST, "--min-free", "900000GiB")
    assert ran.code == 1
    assert "free some space and run it again" in ran.err
    assert sanderling("crawl", "-d", folder, "--min-free", "1KiB").code == 0
    assert Counter(stored_urls(folder)) == Counter(web.direct.reachable(0))


def within(limit: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """A command with a resource limit of the shell."""
    limited = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *command(*arguments)]
    return subprocess.run(limited, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("size", "blocks", "whose"),
    [(2000, 400, "the disk is full"), (200_000, 2000, "no room left for the archive")],
)
def test_no_room_left_in_the_middle_of_a_write(sanderling, tmp_path: Path, size: int, blocks: int, whose: str) -> None:  # type: ignore[no-untyped-def]
    """The disk of the database or of the archive is full: the message, the totals and the stored
    pages agree."""
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=60, seed=5, size=size).serve() as site:
        ran = within(f"-f {blocks}", "crawl", site.url, "-d", folder, *FAST, "--clients", 1)
        (sentence,) = said(ran.stderr)
        assert ran.returncode == 1 and whose in sentence
        counted = sanderling("status", folder, "--json").json
        assert counted["fetched"] == len(sanderling("pages", folder, "--json").lines) == len(stored_urls(folder))
        assert sanderling("crawl", "-d", folder).code == 0
        counted = sanderling("status", folder, "--json").json
        assert (counted["queued"], counted["fetched"], counted["known"]) == (0, 60, 60)
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))


def test_few_file_descriptors_are_nobodys_fault(tmp_path: Path) -> None:
    with SyntheticWeb(hosts=20, pages=200, seed=5, latency=0.02).serve() as site:
        folder, wide = tmp_path / "crawl", ("--proxy", site.proxy, "--per-host", 8, "--delay", 0, "--clients", 1)
        ran = within("-n 64", "crawl", *site.seeds, "-d", folder, *wide, "--json")
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout).items() >= {"pages": 200, "failed": 0, "clients_replaced": 0}.items()
        ran = within("-n 20", "crawl", *site.seeds, "-d", tmp_path / "other", *wide)
        assert ran.returncode == 1 and "no more than 20 files may be open here" in ran.stderr
        assert ran.stderr.count("\n") == 1 and not (tmp_path / "other").exists()


def test_two_crawls_do_not_disturb_each_other(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    threads = [
        threading.Thread(target=sanderling, args=("crawl", web.url, "-d", tmp_path / name, *FAST)) for name in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert urls(sanderling, tmp_path / "a") == urls(sanderling, tmp_path / "b") == web.direct.reachable(0)


def test_a_crawl_that_brings_nothing_says_why(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    gone = sanderling("crawl", web.url + "nowhere", "-d", tmp_path / "gone")
    assert f"{web.url}nowhere  answered 404" in gone.out and "next:" not in gone.out
    with SyntheticWeb(hosts=1, pages=5, seed=2).serve(robots="User-agent: *\nDisallow: /") as site:
        forbidden = sanderling("crawl", site.url, "-d", tmp_path / "forbidden")
    assert f"{site.url}  disallowed by robots.txt" in forbidden.out


def test_the_commands_that_are_named_can_be_copied(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "my crawl"
    for ran in (
        sanderling("crawl", web.url, "-d", folder, "--max-pages", 1),
        sanderling("crawl", "-d", folder, "--again"),
    ):
        named = re.findall("`sanderling ([^`]+)`", ran.out)
        assert named and all(str(folder) in shlex.split(command) for command in named)


def test_what_is_held_back_is_not_passed_over_in_silence(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = {f"/{number}": links(f"/{number + 1}") + b"always the same" for number in range(400)}
    with PageServer({"/": links("/0"), **table}) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST)
        held = sanderling("status", tmp_path / "c", "--json").json["held"]
        assert held and f"{held} held back: {held} l" in ran.out
        assert f"`sanderling pages {tmp_path / 'c'} --held` lists these" in ran.out
        assert f"`sanderling crawl -d {tmp_path / 'c'} --no-hold` fetches them" in ran.out
        again = sanderling("crawl", "-d", tmp_path / "c", "--json").json
        assert again["held"] == held == sum(again["held_why"].values())


def test_counts_that_are_none_are_wrong_usage(sanderling, web: ServedWeb, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "c"
    sanderling("crawl", web.url, "-d", folder, "--max-pages", 5)
    assert len(sanderling("pages", folder, "--limit", 3).out.splitlines()) == 3
    for each in ("pages", "changes", "feed"):
        for wrong in ("-1", "1.5", "many", "9" * 20):
            ran = sanderling(each, folder, f"--limit={wrong}")
            assert ran.code == 2 and f"'{wrong}' is not a whole number, 0 or more" in ran.err
    assert sanderling("feed", folder, "-o", tmp_path).code == 2
    help = sanderling()
    assert help.code == 2 and "sanderling crawl https://example.org/" in help.err
