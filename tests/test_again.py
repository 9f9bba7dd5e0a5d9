"""Visiting again: all changes are found with the right kinds, and nothing else is fetched or
reported."""

import io
import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from warcio.archiveiterator import ArchiveIterator

from sanderling.model import Before, Counts, Outcome, State, Task, Visit
from sanderling.server.frontier import settling
from sanderling.server.frontier.ledger import Ledger
from sanderling.testing import DAY, FaultServer, SyntheticWeb
from tests.conftest import FAST, Run, started
from tests.servers import Answer, PageServer, links, redirect
from tests.waiting import PATIENCE, until

KINDS = {"text", "structure", "presentation", "image"}


def revisit_records(folder: Path) -> Counter[str]:
    profiles: Counter[str] = Counter()
    for path in (folder / "warc").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "revisit":
                    profiles[record.rec_headers.get_header("WARC-Profile").rpartition("/")[2]] += 1
    return profiles


@pytest.mark.parametrize("validators", [True, False])
def test_all_changes_are_found_and_nothing_else(sanderling: Run, tmp_path: Path, validators: bool) -> None:
    folder = tmp_path / "crawl"
    web = SyntheticWeb(pages=120, seed=11, change_rate=0.15)
    with web.serve(validators=validators) as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        first = site.direct.reachable(0)
        site.clock.advance(4 * DAY)
        site.requests.clear()
        ran = sanderling("crawl", "-d", folder, "--again", "--revisit-records", "--json")
        assert ran.code == 0, ran.err
        now = site.direct.reachable(4 * DAY)
        assert site.requests == Counter(first | now)
        truth = {url: {c.kind for c in site.direct.changes(url, 0, 4 * DAY)} for url in first & now}
        rows = sanderling("changes", folder, "--json").lines
        told = {row["url"]: set(row["kinds"]) for row in rows if "new" not in row["kinds"]}
        assert {url for url, kinds in told.items() if "gone" not in kinds} == {url for url, k in truth.items() if k}
        assert {url for url, kinds in told.items() if "gone" in kinds} == first - now
        assert {row["url"] for row in rows if "new" in row["kinds"]} == now - first  # the first crawl is the baseline
        for url, kinds in truth.items():
            # While the structure changes, a changed look is part of it.
            expected = kinds & KINDS - ({"presentation"} if "structure" in kinds else set())
            assert expected <= told.get(url, set()), (url, kinds, told.get(url))
        unchanged = sum(not kinds for kinds in truth.values())
        assert ran.json["not_modified" if validators else "same"] == unchanged
        profile = "server-not-modified" if validators else "identical-payload-digest"
        assert revisit_records(folder) == Counter({profile: unchanged})
        assert ran.json["changed"] == len(told) - len(first - now)
        assert ran.json["versions"] == len(first | now) + len(told)
        status = sanderling("status", folder, "--json").json
        assert (status["queued"], status["gone"]) == (0, len(first - now))
        links = {
            tuple(line.split("\t"))
            for line in sanderling("export", folder, "--format", "links", "-o", "-").out.split("\n")
        }
        page = next(url for url, kinds in truth.items() if not kinds)
        assert {target for source, *rest in links for target in rest if source == page} == set(
            site.direct.links_at(page, 0)
        )


def test_visits_that_find_nothing_new_leave_the_archive_as_it_is(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    table = {"/": links("/told", "/same"), "/same": b"<p>The same", "/told": told_once(b"<p>As ever")}
    with PageServer(table) as server:
        server.table["/sitemap.xml"] = Answer(b"<urlset></urlset>", "application/xml")
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        before = archived_pages(folder)
        ran = sanderling("crawl", "-d", folder, "--again", "--json")
        assert (ran.json["not_modified"], ran.json["same"], ran.json["visits"]) == (1, 2, 6)
        assert archived_pages(folder) == before
        ran = sanderling("crawl", "-d", folder, "--again", "--revisit-records", "--json")
        assert len(archived_pages(folder)) == len(before) + 3
    assert sanderling("check", folder, "--deep").code == 0


def told_once(body: bytes) -> Callable[[int], Answer]:
    tag = (("ETag", '"x"'),)
    return lambda n: Answer(body, headers=tag) if n == 1 else Answer(b"", status=304, headers=tag)


def archived_pages(folder: Path) -> list[str]:
    """The URLs of all captures of pages."""
    found = []
    for path in (folder / "warc").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                url = record.rec_headers.get_header("WARC-Target-URI") or ""
                if record.rec_type in ("response", "revisit") and not url.endswith((".txt", ".xml")):
                    found.append(url)
    return sorted(found)


def test_a_page_that_left_and_came_back(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    web = SyntheticWeb(pages=60, seed=3, vanish=0.3, appear=0.0)
    with web.serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        gone = next(iter(site.direct.reachable(0) - site.direct.pages_at(30 * DAY)))
        for now in (30 * DAY, 0):
            site.clock.now = now
            sanderling("crawl", "-d", folder, "--again")
        history = sanderling("history", folder, gone, "--json").lines
        assert [row["kinds"] for row in history] == [["new"], ["gone"], ["new"]]
        assert history[1]["status"] in (404, 410)
        assert "gone" in sanderling("history", folder, gone).out


def test_a_counter_is_learned_to_be_no_news(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with FaultServer() as server:
        sanderling("crawl", server.url("counter"), "-d", folder, *FAST, "--max-pages", 1)
        for _ in range(6):
            sanderling("crawl", "-d", folder, "--again", "--delay", 0, "--max-depth", 0)
        rows = sanderling("history", folder, server.url("counter"), "--json").lines
        assert len(rows) == 7
        assert rows[1]["news"] is True
        assert rows[-1]["news"] is False
        told = sanderling("changes", folder, "--json").lines
        everything = sanderling("changes", folder, "--json", "--all").lines
        assert len(told) < len(everything) == 7


def test_reading_versions(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    web = SyntheticWeb(pages=60, seed=8, change_rate=0.3)
    with web.serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        site.clock.advance(5 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        edited = sanderling("changes", folder, "--kind", "text", "--json").lines
        page = edited[0]["url"]
        assert all("text" in row["kinds"] for row in edited)
        assert sanderling("changes", folder, "--since", "1h", "--limit", 2).out.count("\n") == 2
        assert sanderling("changes", folder, "--since", "2100-01-01").out == ""
        assert sanderling("changes", folder, "--min-significance", 2).out == ""
        (counted,) = sanderling("changes", folder, "--summary", "--all", "--json").lines
        pages = sanderling("pages", folder, "--json").lines
        assert counted["kinds"]["text"] == len([r for r in edited if "new" not in r["kinds"]])
        assert counted["degrees"].pop("no change") == sum(row["visits"] - row["changes"] - 1 for row in pages)
        assert sum(counted["degrees"].values()) + counted["gone"] == sum(row["changes"] for row in pages)
        table = sanderling("changes", folder, "--summary", "--since", "1h").out.splitlines()
        assert len(table) == 2 and "no text change" in table[0] and "  no change" not in table[0]
        plain = sanderling("diff", folder, page).out
        assert "\n  + " in plain
        assert "\x1b[" not in plain
        assert "\x1b[32m" in sanderling("diff", folder, page, "--color", "always").out
        side_by_side = sanderling("diff", folder, page, 1, 2, "--html").out
        assert "<mark>" in side_by_side or 'class="added"' in side_by_side
        assert "kinds" in sanderling("diff", folder, page, "--kinds").out
        blamed = sanderling("blame", folder, page, "--json").lines
        times = sorted(row["at"] for row in sanderling("history", folder, page, "--json").lines)
        assert {row["last_edited"] for row in blamed} <= set(times)
        assert {row["first_seen"] for row in blamed} & {times[0]}
        assert max(row["last_edited"] for row in blamed) == times[-1]
        for wrong in (
            ["diff", folder, page, 1, 9],
            ["history", folder, site.url + "nowhere"],
            ["changes", folder, "--since", "soon"],
            ["changes", folder, "--summary", "--follow"],
        ):
            ran = sanderling(*wrong)
            assert ran.code == 2
            assert ran.err.count("\n") == 1


def picture(colour: str) -> Answer:
    saved = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(saved, "PNG")
    return Answer(saved.getvalue(), "image/png")


def test_what_changed_is_told_where_the_text_is_the_same(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    versions: dict[str, tuple[bytes | Answer, bytes | Answer]] = {
        "/look": (b"<p class=calm>a", b"<p class=loud>a"),
        "/image": (b"<p>a<img src=/old.png>", b"<p>a<img src=/new.png>"),
        "/closing": (b"<div>a</div><section>b</section>", b"<div>a<section>b</section></div>"),
        "/lines": (Answer(b"one\ntwo\nthree", "text/plain"), Answer(b"one\n2\nthree", "text/plain")),
        "/bytes": (Answer(b"\0\1\2", "application/x-thing"), Answer(b"\0\3", "application/x-thing")),
        "/words": (b"<p>a", Answer(b"\0\3", "application/x-thing")),
        "/picture": (picture("red"), picture("black")),
        "/still": (b"<p>a", b"<p>a"),
        "/leaves": (b"<p>a", Answer(b"", status=410)),
    }
    table = {path: lambda n, both=both: both[min(n, 2) - 1] for path, both in versions.items()}
    with PageServer({"/": links(*versions), **table}) as server:
        sanderling("crawl", server.origin, "-d", folder, *FAST)
        sanderling("crawl", "-d", folder, "--again")
        told = {path: sanderling("diff", folder, server.origin + path).out.splitlines()[2:] for path in versions}
        assert told["/look"] == ["    the page's look changed (p.calm -> p.loud)"]
        assert told["/image"] == ["    images changed (old.png -> new.png)"]
        assert "section inserted" in told["/closing"][0]
        assert told["/lines"][1:] == ["    one", "  - two", "  + 2", "    three"]
        assert told["/bytes"] == ["    the file is another one: 3 bytes, now 2"]
        assert told["/words"] == ["    the file is another one: 4 bytes, now 2", "  - a"]
        assert told["/picture"][0].startswith("    another picture: ")
        assert told["/leaves"] == ["    gone (410)", "  - a"]
        assert sanderling("diff", folder, server.origin + "/still").out.startswith("there is only one version")
        history = sanderling("history", folder, server.origin + "/leaves").out
        assert history.split("\n")[0].endswith("  new")
        assert history.split("\n")[1].endswith("  gone (410)")


def test_what_the_web_says_is_escaped(tmp_path: Path) -> None:
    from sanderling.change.comparison import pieces
    from sanderling.presenting.diff import as_html, as_text
    from sanderling.presenting.difference import Difference

    shown = Difference("", pieces(["<script>alert(1)</script>"], ["<img src=x onerror=y> \x1b[2J"]), 0, None)
    page = as_html("http://e.org/<b>", ["<i>", "</table>"], shown)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "\x1b[2J" not in as_text(["a", "b"], shown, colour=True)
    assert json.dumps(page)


def test_a_rule_changes_what_counts_without_fetching(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    web = SyntheticWeb(pages=40, seed=8, change_rate=0.4)
    with web.serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        before = sanderling("changes", folder, "--kind", "text", "--json").lines
        assert before
        requests = sum(site.requests.values())
        settings = folder / "sanderling.toml"
        kept = settings.read_text()
        settings.write_text(kept + 'rules = [{ urls = "", watch = ["h1"] }]\n')
        ran = sanderling("crawl", "-d", folder)
        assert "judged again" in ran.err
        assert sum(site.requests.values()) == requests
        watched = sanderling("changes", folder, "--kind", "text", "--json").lines
        assert len(watched) < len(before)
        settings.write_text(kept)
        sanderling("crawl", "-d", folder)
        after = sanderling("changes", folder, "--kind", "text", "--json").lines
        assert [row["url"] for row in after] == [row["url"] for row in before]
        settings.write_text(kept + 'rules = [{ watch = ["h1 >>> ("] }]\n')
        ran = sanderling("crawl", "-d", folder)
        assert ran.code == 2
        assert "not a valid selector" in ran.err
        settings.write_text(kept + 'rules = [{ wach = ["h1"] }]\n')
        assert sanderling("crawl", "-d", folder).code == 2


def test_noise_that_all_pages_share_is_learned_from_some_and_kept(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"

    def page(name: str) -> Callable[[int], bytes]:
        return lambda n: f"<h1>{name}</h1><p>About {name}</p><p>Visitors today:</p><p>{n} {name}</p><p>End</p>".encode()

    names = [f"page{number}" for number in range(12)]
    table = {f"/{name}": page(name) for name in names}
    with PageServer(table | {"/": links(*(f"/{name}" for name in names))}) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, *FAST)
        news = [sanderling("crawl", "-d", folder, "--again", "--json").json["changed"] for _ in range(3)]
        assert news == [8, 8, 8]  # learned from the first pages, and used for the others


def test_a_page_that_answers_like_nonsense_does_is_gone(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    nothing = Answer(b"<h1>Oops</h1><p>There is nothing here. Have a look at our other pages instead.</p>")
    there = b"<h1>A page</h1><p>with something to say about a thing that is worth a visit</p>"
    with PageServer(
        {"/": links("/a", "/b"), "/a": there, "/b": there + b"<p>too</p>", "/sitemap.xml": nothing}
    ) as server:
        sanderling("crawl", f"{server.origin}/", "-d", folder, *FAST)
        server.table["/a"] = nothing
        sanderling("crawl", "-d", folder, "--again")
        history = sanderling("history", folder, f"{server.origin}/a", "--json").lines
        assert [row["kinds"] for row in history] == [["new"], ["gone"]]
        assert "soft 404" in history[1]["summary"]
        server.table["/a"] = there
        sanderling("crawl", "-d", folder, "--again")
        history = sanderling("history", folder, f"{server.origin}/a", "--json").lines
        assert [row["kinds"] for row in history] == [["new"], ["gone"], ["new"]]
        assert sanderling("status", folder, "--json").json["gone"] == 0


def test_a_page_out_of_reach_is_neither_gone_nor_new(sanderling: Run, tmp_path: Path) -> None:
    """The page is compared with its last copy, however often it could not be reached in between."""
    folder = tmp_path / "crawl"
    away, forbidden, gone = (Answer(b"", status=status) for status in (500, 403, 410))
    stories: dict[str, list[str | Answer]] = {
        "/same": ["said", away, away, "said"],
        "/edited": ["said", away, "says"],
        "/forbidden": ["said", forbidden, forbidden, "says"],
        "/gone": ["said", away, gone],
        "/left": ["said", gone, forbidden, "said"],
        "/first": [gone, "said"],
        "/moved": [redirect("/same"), "said"],
        "/away": ["said", redirect("/same"), redirect("/gone"), "said"],
    }
    with PageServer({"/": links(*stories)}) as server:
        for turn in range(4):
            for path, story in stories.items():
                now = story[min(turn, len(story) - 1)]
                server.table[path] = f"<p>{path * 3} {now} this.".encode() if isinstance(now, str) else now
            how = ["--again"] if turn else [server.origin + "/", *FAST]
            ran = sanderling("crawl", "-d", folder, *how, "--retries", 0)
            assert ran.code == 0, ran.err
            if turn == 1:
                assert (
                    "0 changed, 2 new, 2 gone, 0 not modified (304), 1 with the same bytes, 4 out of reach" in ran.out
                )
            if turn == 3:
                assert (
                    "1 changed, 0 new, 0 gone, 0 not modified (304), 5 with the same bytes, 2 back, 1 other (redirects, errors, pages still gone)\n"
                    in ran.out
                )
        told = {path: sanderling("history", folder, server.origin + path, "--json").lines for path in stories}
        assert {path: [(*row["kinds"], row["summary"]) for row in rows] for path, rows in told.items()} == {
            "/same": [("new", "new")],
            "/edited": [("new", "new"), ("text", "1 of 1 paragraph changed")],
            "/forbidden": [("new", "new"), ("text", "1 of 1 paragraph changed")],
            "/gone": [("new", "new"), ("gone", "gone (410)")],
            "/left": [("new", "new"), ("gone", "gone (410)"), ("new", "back")],
            "/first": [("new", "new")],
            "/moved": [("new", "new")],
            "/away": [("new", "new"), ("gone", "redirects elsewhere"), ("new", "back")],
        }
        listed = {row["url"]: row["status"] for row in sanderling("pages", folder, "--json").lines}
        assert listed[server.origin + "/same"] == 200
        assert sanderling("status", folder, "--json").json["pages"] == 9


def test_links_that_lead_elsewhere_are_a_change_from_the_first_one_on(sanderling: Run, tmp_path: Path) -> None:
    """Also after a change of rules, which compares all versions again, and within the parts that a
    rule watches."""
    folder = tmp_path / "crawl"

    def page(name: str, target: str) -> bytes:
        return f"<p>{name * 20}</p><div><a href='{target}'>download</a></div>".encode()

    with PageServer({"/": links("/a", "/watched")}) as server:
        for turn, target in enumerate(("/one?utm_source=x", "/one", "/two", "/two?utm_source=y", "/three")):
            server.table |= {path: page(path, target) for path in ("/a", "/watched")}
            how = ["--again"] if turn else [server.origin + "/", *FAST]
            assert sanderling("crawl", "-d", folder, *how).code == 0
            if turn == 3:
                with (folder / "sanderling.toml").open("a") as file:
                    file.write('rules = [{ urls = "/watched", watch = ["div"] }]\n')
        for path in ("/a", "/watched"):
            rows = sanderling("history", folder, server.origin + path, "--json").lines
            assert [row["kinds"] for row in rows] == [["new"], [], ["structure"], [], ["structure"]]
            assert rows[2]["summary"] == "the page's structure changed (links lead elsewhere)"


@pytest.mark.parametrize("ends", ["</channel></rss>", "<br></channel></rss>"])  # the latter is no XML, as many feeds
def test_an_entry_that_a_feed_gains_is_told_as_such(sanderling: Run, tmp_path: Path, ends: str) -> None:
    folder = tmp_path / "crawl"

    def feed(*entries: str) -> Answer:
        items = "".join(f"<item><title>{each}</title><link>http://e.invalid/{each}</link></item>" for each in entries)
        return Answer(f"<?xml version='1.0'?><rss><channel><title>News</title>{items}{ends}".encode(), "text/xml")

    with PageServer({"/": feed("storm", "calm")}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST, "--max-pages", 1)
        server.table["/"] = feed("fog", "storm", "calm")
        sanderling("crawl", "-d", folder, "--again")
        (row,) = sanderling("changes", folder, "--kind", "text", "--json").lines
        assert row["summary"] == "2 of 7 paragraphs added"
        assert 0.1 < row["significance"] < 0.4
        assert "\n  + fog\n  + http://e.invalid/fog\n    storm\n" in sanderling("diff", folder, server.origin + "/").out


def test_a_page_that_leaves_the_collection_while_it_is_visited_is_counted_once_and_not_back() -> None:
    before = Before(b"", b"", State.EXCLUDED, 200, None, True)
    same = Visit(id=1, outcome=Outcome.UNCHANGED, at=1.0, status=200)
    assert before.there
    ledger = Ledger(Counts(known=1, excluded=1))
    settled = settling.settle(same, Task(1, "http://e.org/", 0, 0, 0), 0, 0.0, before)
    ledger.visited([same], [settled], {1: before}, {}, 0)
    counts = ledger.counts
    assert (counts.fetched, counts.gone, counts.excluded) == (1, 0, 0)


@pytest.mark.parametrize("command", [("crawl", "--again", "-d"), ("refresh", "--policy", "all")])
def test_an_interrupted_round_goes_on_where_it_was(sanderling: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Each page is visited once a round, however often the round is interrupted."""
    folder = tmp_path / "crawl"
    slow = (*command, folder, "--delay", 0, "--per-host", 1, "--clients", 1)
    with SyntheticWeb(pages=80, seed=11).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        site.requests.clear()
        for runs in (1, 2, 3):
            site.hold(after=20)
            with started(*slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                until(lambda: site.held)
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE) == 130
            assert len(site.requests) <= 21 * runs
        site.release()
        ran = sanderling(*slow)
        assert ran.code == 0
        assert "goes on with a round of visits that was interrupted" in ran.err
        if command[0] == "crawl":
            assert "this finished a round of visits that had been interrupted" in ran.out
        assert set(site.requests) == site.direct.reachable(0)
        # A stop comes between an answer and its commit once a run.
        assert sum(site.requests.values()) <= 80 + 3 * 21
        site.requests.clear()
        sanderling(*command, folder, *FAST)
        assert set(site.requests) == site.direct.reachable(0)


def test_an_interrupted_round_goes_on_when_the_clock_was_set_back(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    slow = ("crawl", "-d", folder, "--again", "--delay", 0, "--per-host", 1, "--clients", 1)
    with SyntheticWeb(pages=40, seed=11).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        site.requests.clear()
        site.hold(after=10)
        with started(*slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until(lambda: site.held)
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
        site.release()
        assert sanderling(*slow, env={"SANDERLING_AHEAD": "-3600"}).code == 0
        assert set(site.requests) == site.direct.reachable(0)
