"""Failed fetches: retries, time-outs, and hosts that do not answer."""

import json
import time
from contextlib import ExitStack
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest

from sanderling.server.requests import remote
from sanderling.testing import FaultServer, SyntheticWeb
from tests.conftest import FAST, listed, started
from tests.servers import Answer, PageServer, closed, deaf, links
from tests.waiting import PATIENCE, until

# ---- retries


def test_what_failed_is_tried_again_when_asked(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder, flags = tmp_path / "c", ("--delay", 0, "--retries", 0, "--clients", 1)
    table: dict[str, Any] = {
        "/": lambda n: Answer(b"", status=500) if n == 1 else links("/flaky", "/closed"),
        "/flaky": lambda n: Answer(b"", status=503) if n == 1 else b"at last",
        "/closed": Answer(b"", status=403),
    }
    with PageServer(table) as server:
        ran = sanderling("crawl", server.origin, "-d", folder, *flags)
        assert "0 pages" in ran.out and "--retry-failed" in ran.out
        sanderling("crawl", "-d", folder, *flags)  # the seed is always retried
        assert {path: row["state"] for path, row in listed(sanderling, folder).items()} == {
            "/": "fetched", "/flaky": "failed", "/closed": "failed",
        }  # fmt: skip
        sanderling("crawl", "-d", folder, *flags)
        assert server.requests["/flaky"] == 1
        ran = sanderling("crawl", "-d", folder, "--retry-failed", "--json", *flags)
        assert (ran.lines[-1]["failed"], ran.lines[-1]["pages"]) == (1, 2)
        assert server.requests["/"] == server.requests["/flaky"] == server.requests["/closed"] == 2
    pages = listed(sanderling, folder)
    assert pages["/flaky"]["state"] == "fetched"
    assert (pages["/closed"]["state"], pages["/closed"]["reason"]) == ("failed", "answered 403")


def test_retries_with_back_off(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    def until(times: int, status: int, *headers: tuple[str, str]) -> Any:
        return lambda n: Answer(b"", status=status, headers=headers) if n <= times else b"at last"

    table = {
        "/flaky": until(2, 503),
        "/later": until(1, 429, ("Retry-After", "2")),
        "/odd": until(1, 500, ("Retry-After", "²")),
        "/broken": until(9, 500),
        **{f"/{status}": Answer(b"", status=status) for status in (400, 401, 403, 404, 418, 451)},
    }
    table["/"] = links(*table)
    with PageServer(table) as server:
        ran = sanderling(
            "crawl", server.origin, "-d", tmp_path / "c", "--delay", 0, "--retries", 2, "--retry-wait", "400ms",
            "--clients", 1,
        )  # fmt: skip
        assert ran.code == 0
        requests, asked = server.requests, list(server.asked)
    pages = listed(sanderling, tmp_path / "c")
    assert [requests[path] for path in ("/flaky", "/later", "/odd", "/broken")] == [3, 2, 2, 3]
    assert all(requests[f"/{status}"] == 1 for status in (400, 401, 403, 404, 418, 451))
    assert {path for path in ("/flaky", "/later", "/odd") if pages[path]["state"] == "fetched"} == {
        "/flaky",
        "/later",
        "/odd",
    }
    assert (pages["/broken"]["state"], pages["/broken"]["reason"]) == ("failed", "answered 500")
    assert (pages["/404"]["state"], pages["/403"]["state"]) == ("gone", "failed")
    first, second, third = (each.at for each in asked if each.url == "/flaky")
    assert second - first >= 0.4
    assert third - second >= 0.8
    refused, again = (each.at for each in asked if each.url == "/later")
    assert again - refused >= 2
    # A host that answers 429 is paused completely.
    assert not [each for each in asked if refused < each.at < refused + 1.9]


# ---- time-outs and dead hosts


def reason_of(sanderling: Any, folder: Path, url: str, *limits: str) -> str:
    """Why a page could not be fetched, if only these limits can end the fetch."""
    patient = (
        "--connect-timeout",
        "1h",
        "--first-byte-timeout",
        "1h",
        "--fetch-timeout",
        "1h",
        "--low-speed-time",
        "1h",
    )
    ran = sanderling("crawl", url, "-d", folder, "--retries", 0, "--delay", 0, "--ignore-robots", *patient, *limits)
    assert ran.code == 1, ran.err
    (row,) = sanderling("pages", folder, "--json").lines
    return str(row["reason"])


@pytest.mark.parametrize(
    ("name", "limit", "reason"),
    [
        ("hang", ("--first-byte-timeout", "1s"), "timed out: no first byte within 1 s"),
        ("slow-headers", ("--fetch-timeout", "2s"), "timed out: Operation timed out after"),
        ("slow-body", ("--low-speed-time", "2s"), "timed out: Operation too slow"),
        ("slow-body", ("--fetch-timeout", "2s"), "timed out: Operation timed out after"),
    ],
)
def test_time_outs(sanderling, tmp_path: Path, name: str, limit: tuple[str, str], reason: str) -> None:  # type: ignore[no-untyped-def]
    with FaultServer() as slow:
        assert reason_of(sanderling, tmp_path / "c", slow.url(name), *limit).startswith(reason)


def test_hosts_that_cannot_be_reached(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with deaf() as nobody, closed() as none:
        said = reason_of(sanderling, tmp_path / "deaf", f"{nobody}/", "--connect-timeout", "500ms")
        assert said.startswith("timed out: Connection timed out after")
        assert reason_of(sanderling, tmp_path / "closed", f"{none}/").startswith("the host cannot be reached")


@pytest.mark.parametrize("robots", [(), ("--ignore-robots",)])
def test_a_dead_host_holds_no_slot(sanderling, tmp_path: Path, robots: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    """A hundred pages of a host that does not answer cost one time-out, not a hundred. The same
    holds for unknown names and closed ports."""
    with PageServer({"/": b"alive"}) as server, deaf() as nobody, closed() as none:
        dead = [nobody, none, "http://no-such-host.invalid"]
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join([*(f"{host}/{n}" for n in range(100) for host in dead), server.origin]))
        started = time.monotonic()
        ran = sanderling(
            "crawl", "--seeds", seeds, "-d", tmp_path / "c", "--retries", 0, "--connect-timeout", "2s", "--clients", 1,
            "--connections", 2, "--delay", 0, *robots, "--json",
        )  # fmt: skip
        assert time.monotonic() - started < 100  # one after the other, on two connections
        assert (ran.json["pages"], ran.json["failed"]) == (1, 300)


def test_a_site_that_is_away_for_a_moment_costs_no_page(tmp_path: Path) -> None:
    """Every retry reaches the host: no page fails while its host is paused."""
    web, folder = SyntheticWeb(pages=60, seed=5), tmp_path / "c"
    own = "127.0.0.60"  # no other process takes this port
    with ExitStack() as stack:
        with web.serve(address=own) as site:
            site.hold(after=20)
            crawl = ("crawl", site.url, "-d", folder, *FAST, "--retries", 5, "--retry-wait", "500ms", "--json")
            process = stack.enter_context(started(*crawl, stdout=PIPE, stderr=DEVNULL))
            until(lambda: site.held)
        until(lambda: remote.look(folder, PATIENCE).counts.retried)
        stack.enter_context(web.serve(address=own, port=int(site.proxy.rpartition(":")[2])))
        summary = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert (summary["pages"], summary["failed"], summary["queued"]) == (60, 0, 0)


def test_a_run_does_not_wait_an_hour_for_one_page(sanderling: Any, tmp_path: Path) -> None:
    busy = Answer(b"", status=429, headers=(("Retry-After", "3600"),))
    with PageServer({"/": links("/a", "/b"), "/a": b"a page", "/b": busy}) as server:
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", "--delay", 0, "--max-delay", "100ms")
        assert ran.code == 0
        assert "1 still queued (hosts asked for a later retry)" in ran.out


def test_a_retry_is_not_put_off_when_the_clock_was_set_back(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    broken = Answer(b"not gzip", headers=(("Content-Encoding", "gzip"),))
    table: dict[str, Any] = {"/": links("/flaky"), "/flaky": lambda n: broken if n == 1 else b"at last"}
    with PageServer(table) as server:
        flags = ("--delay", 0, "--retry-wait", "10m", "--clients", 1)
        ran = sanderling("crawl", server.origin, "-d", tmp_path / "c", *flags)
        assert "1 still queued" in ran.out
        ran = sanderling("crawl", "-d", tmp_path / "c", *flags, env={"SANDERLING_AHEAD": "-3600"})
        assert "2 pages" in ran.out, ran.out
