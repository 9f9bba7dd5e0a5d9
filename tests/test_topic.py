"""Focused crawls, as a user runs them: a topic from examples, tunnelling, and what is shown of
it.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.repository.opening import reading
from sanderling.server.topic.harvest import WINDOW
from sanderling.testing import SyntheticWeb
from sanderling.testing.prose import sentences
from tests.conftest import FAST, Run, command, listed
from tests.servers import PageServer, links
from tests.waiting import PATIENCE

WORD = "photovoltaics"


def on_topic(*targets: str, number: int = 0) -> bytes:
    text = " ".join(sentences(1)[8 * number : 8 * number + 8])
    return links(*targets) + f"<h1>{WORD}</h1><p>{WORD} and more {WORD}. {WORD} again. {text}".encode()


def off_topic(*targets: str, number: int = 0) -> bytes:
    return links(*targets) + " ".join(sentences(1)[8 * number : 8 * number + 8]).encode()


@pytest.fixture
def islands() -> Iterator[PageServer]:
    """From the front page, which is on the topic, a chain of k other pages leads to each island
    /island/k, k = 0..3.

    Pages behind the last island are off the topic: /tail/0 links to /tail/1, and so on.
    """
    table: dict[str, bytes] = {}
    entries = []
    for k in range(4):
        chain = [f"/way/{k}/{n}" for n in range(k)] + [f"/island/{k}"]
        entries.append(chain[0])
        for n, path in enumerate(chain[:-1]):
            table[path] = off_topic(chain[n + 1], number=10 * k + n + 1)
        table[chain[-1]] = on_topic(*(["/tail/0"] if k == 3 else []), number=50 + k)
    table |= {f"/tail/{n}": off_topic(f"/tail/{n + 1}", number=60 + n) for n in range(8)}
    with PageServer({"/": on_topic(*entries, number=49), **table}) as server:
        yield server


def pages(sanderling: Run, folder: Path) -> set[str]:
    return {path for path, page in listed(sanderling, folder).items() if page["status"] == 200}


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_islands_behind_k_other_pages_are_found_with_depth_k_and_not_with_less(
    sanderling: Run, islands: PageServer, tmp_path: Path, depth: int
) -> None:
    folder = tmp_path / "c"
    focused = ("--topic", WORD, "--tunnel-depth", depth, "--no-sitemaps")
    assert sanderling("crawl", f"{islands.origin}/", "-d", folder, *FAST, *focused).code == 0
    found = pages(sanderling, folder)
    assert {path for path in found if path.startswith("/island")} == {f"/island/{k}" for k in range(depth + 1)}
    # Behind a page on the topic, as many pages off it are fetched as the depth says, and the first
    # of them.
    assert {path for path in found if path.startswith("/tail")} == {
        f"/tail/{n}" for n in range(depth + 1) if depth == 3
    }
    for k in range(depth + 1, 4):
        assert {path for path in found if path.startswith(f"/way/{k}/")} == {f"/way/{k}/{n}" for n in range(depth + 1)}
    held = sanderling("pages", folder, "--held", "--json").lines
    assert {page["reason_code"] for page in held} == {f"held-off-topic:{depth + 1}"}
    assert sanderling("check", folder).code == 0


@pytest.mark.parametrize("depth", [0, 1])
def test_many_urls_of_one_pattern_are_no_way_around_the_depth(sanderling: Run, tmp_path: Path, depth: int) -> None:
    """The gate puts off most of them until some were visited. They keep their count."""
    pages_off = {f"/p/{n}": off_topic(f"/q/{n}", number=n % 40) for n in range(50)}
    behind = {f"/q/{n}": off_topic(number=40 + n % 40) for n in range(50)}
    with PageServer({"/": off_topic(*pages_off, number=99), **pages_off, **behind}) as server:
        focused = ("--topic", WORD, "--tunnel-depth", depth, "--no-sitemaps")
        ran = sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, *focused, "--json")
        assert ran.json["pages"] == 1 + 50 * depth, ran.err
        assert ran.json["held_why"] == {"held-off-topic": 50}


def test_what_was_held_goes_on_when_the_depth_is_raised(
    sanderling: Run, islands: PageServer, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "c"
    start = (f"{islands.origin}/", "-d", folder, *FAST, "--topic", WORD, "--no-sitemaps")
    assert sanderling("crawl", *start, "--tunnel-depth", 0, *kept_in).code == 0
    assert sanderling("crawl", "-d", folder, *FAST, "--tunnel-depth", 2).code == 0
    assert {f"/island/{k}" for k in range(3)} <= pages(sanderling, folder)
    assert "/island/3" not in pages(sanderling, folder)
    assert sanderling("check", folder).code == 0


def test_a_better_page_frees_what_is_held(sanderling: Run, tmp_path: Path) -> None:
    """/far is first found on a page off the topic, and later on one that is on it."""
    site = {
        "/": on_topic("/off", "/late/0", number=1),
        "/off": off_topic("/far", number=2),
        "/late/0": on_topic("/late/1", number=3),
        "/late/1": on_topic("/late/2", number=4),
        "/late/2": on_topic("/far", number=5),
        "/far": off_topic(number=6),
    }
    with PageServer(site) as server:
        focused = ("--topic", WORD, "--tunnel-depth", 0, "--no-sitemaps", "--clients", 1)
        assert sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, *focused).code == 0
        assert pages(sanderling, tmp_path / "c") == set(site)


def test_a_topic_from_examples_brings_its_pages_first(sanderling: Run, tmp_path: Path) -> None:
    """From examples on the web to a searched collection of the topic."""
    web = SyntheticWeb(hosts=1, pages=600, seed=9, topics=8, locality=0.8, vanish=0.0, appear=0.0)
    with web.serve() as site:
        inside = sorted(web.pages_at(0.0))
        mine = [url for url in inside if web.topic(url) == 2]
        others = [url for url in inside if web.topic(url) > 2]
        at = [site.url.rstrip("/") + url.partition(".test")[2] for url in (*mine[:10], *others[:10])]
        model = tmp_path / "two.topic"
        made = sanderling("topic", model, *at[:10], "--not", *at[10:], "--json")
        assert made.code == 0, made.err
        assert made.json["examples"] == made.json["counter_examples"] == 10
        assert made.json["precision"] >= 0.8
        assert made.json["recall"] >= 0.8
        shown = sanderling("topic", model)
        assert "precision" in shown.out
        assert made.json["for_it"][0] in shown.out

        folder = tmp_path / "c"
        crawl = ("crawl", site.url, "-d", folder, *FAST, "--topic", model, "--max-pages", 150, "--clients", 1)
        assert sanderling(*crawl).code == 0
    stored = [row for row in sanderling("pages", folder, "--json").lines if row["status"] == 200]
    true = {site.url.rstrip("/") + url.partition(".test")[2] for url in mine}
    relevant = {row["url"] for row in stored if row["relevance"] >= 0.5}
    assert len(relevant & true) >= 0.9 * len(relevant)
    # A fifth of all pages is on the topic, so a crawl that does not look for it has about 30 of
    # 150.
    assert len(true & {row["url"] for row in stored}) > 75
    found = sanderling("search", folder, "relevance:>0.7 *", "--json", "--limit", 150).lines
    assert {hit["url"] for hit in found} == {row["url"] for row in stored if row["relevance"] > 0.7}


def test_a_focused_crawl_of_many_hosts_visits_the_best_first_and_all_in_the_end(
    sanderling: Run, tmp_path: Path
) -> None:
    web = SyntheticWeb(hosts=20, pages=300, seed=4, topics=4, locality=0.8, vanish=0.0, appear=0.0)
    mine = [url for url in sorted(web.pages_at(0.0)) if web.topic(url) == 1]
    examples = tmp_path / "examples"
    examples.mkdir()
    for number, url in enumerate(mine[:10]):
        (examples / f"{number}.html").write_bytes(web.body(url, 0.0))
    assert sanderling("topic", tmp_path / "one.topic", examples).code == 0
    with web.serve() as site:
        everywhere = ("--scope", "any", "--proxy", site.proxy, "--no-sitemaps", "--tunnel-depth", 99)
        start = ("crawl", web.seeds[0], "-d", tmp_path / "c", "--topic", tmp_path / "one.topic", "--clients", 2)
        assert sanderling(*start, *FAST, *everywhere).code == 0
        assert set(site.requests) == web.reachable(0.0, web.seeds[:1])
        assert max(site.requests.values()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("topic", "new.topic"), "name examples"),
        (("topic", "new.topic", "nowhere.txt"), "neither a URL"),
        (("topic", "new.topic", "--words", "123 456"), "no words"),
        (("topic", "bad.topic"), "damaged"),
        (("crawl", "http://127.0.0.1:9/", "-d", "c", "--topic", "none.topic"), "does not exist"),
        (("crawl", "http://127.0.0.1:9/", "-d", "c", "--topic", "bad.topic"), "damaged"),
        (("crawl", "http://127.0.0.1:9/", "-d", "c", "--order", "topic"), "needs a topic"),
        (("crawl", "http://127.0.0.1:9/", "-d", "c", "--topic", "birds", "--relatedness", "2"), "from 0 to 1"),
        (("topic", "new.topic", "marks.html", "--folder", "Fish"), "it has Birds"),
        (("topic", "new.topic", "a.txt", "--not", "a.txt"), "decide for one"),
        (("topic", "new.topic", "http://127.0.0.1:9/x"), "at least one example"),
    ],
)
def test_mistakes_get_one_sentence(
    sanderling: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.topic").write_text('{"format": "sanderling-topic", "version": 1}')
    (tmp_path / "a.txt").write_text("waders on the shore")
    (tmp_path / "marks.html").write_text(
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Birds</H3><DL><DT><A HREF="https://a.test/">a</A></DL></DL>'
    )
    ran = sanderling(*arguments)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert not (tmp_path / "c").exists()
    assert not (tmp_path / "new.topic").exists()


def test_a_collection_on_a_topic_keeps_its_pages(sanderling: Run, tmp_path: Path) -> None:
    """Pages off the topic link to each other, so they are more important; but a page counts by its
    relevance, too.
    """
    off = [f"/off/{n}" for n in range(6)]
    on = [f"/{WORD}/{n}" for n in range(6)]
    site = {"/": on_topic(*off, *on, number=20)}
    site |= {path: off_topic(*off, number=n) for n, path in enumerate(off)}
    site |= {path: on_topic("/", number=30 + n) for n, path in enumerate(on)}
    with PageServer(site) as server:
        kept = ("--topic", WORD, "--order", "breadth-first", "--collection", 7, "--no-sitemaps", "--clients", 1)
        assert sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, *kept).code == 0
    state = {path: page["state"] for path, page in listed(sanderling, tmp_path / "c").items()}
    assert {path for path, each in state.items() if each == "fetched"} == {"/", *on}


def test_from_a_bookmark_file_to_a_searched_collection(sanderling: Run, tmp_path: Path) -> None:
    """One command: the bookmarks are the seeds and the examples of the topic."""
    web = SyntheticWeb(hosts=1, pages=200, seed=0, topics=5, locality=0.8, vanish=0.0, appear=0.0)
    with web.serve() as site:
        mine = [url for url in sorted(web.pages_at(0.0)) if web.topic(url) == 3]
        listed_here = [site.url.rstrip("/") + url.partition(".test")[2] for url in mine[:6]]
        marks = tmp_path / "birds.html"
        entries = "".join(f'<DT><A HREF="{url}">a bird</A>' for url in listed_here)
        marks.write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Birds</H3><DL><p>{entries}</DL></DL>")
        folder = tmp_path / "birds"
        start = ("crawl", "--seeds", marks, "--topic", marks, "-d", folder, *FAST, "--max-pages", 60, "--json")
        made = sanderling(*start)
        assert made.code == 0, made.err
        assert "the topic is learned from 6 pages" in made.err
        assert made.json["relevant"] > 20
        taught = sanderling("topic", folder, "--json")  # with pages of the crawl as background
        assert taught.json["background"] > 5
        assert taught.json["precision"] > 0.7
    hits = sanderling("search", folder, "relevance:>0.5 *", "--json", "--limit", 100).lines
    right = [hit for hit in hits if web.topic("http://host0.test/" + hit["url"].removeprefix(site.url)) == 3]
    assert len(right) >= 0.7 * len(hits) > 10
    # Pages that the first model just missed were not taken for counter-examples.
    stored = [row["url"] for row in sanderling("pages", folder, "--json").lines if row["status"] == 200]
    true = [url for url in stored if web.topic("http://host0.test/" + url.removeprefix(site.url)) == 3]
    assert len(right) >= 0.8 * len(true)


@pytest.mark.parametrize("first", [False, True])
def test_a_farm_with_promising_links_does_not_hold_the_crawl(sanderling: Run, tmp_path: Path, first: bool) -> None:
    """Each page of the farm has twelve links whose words are the topic, in circles, and nothing on
    the topic behind them.

    They stand behind its text or before it. The honest pages are a chain: its links say nothing.
    Only what each host brings tells them apart.
    """
    farm = [f"/{WORD}/{WORD}-{n}" for n in range(400)]
    chain = [f"/n/{n}" for n in range(40)]
    text = " ".join(sentences(2)[:80]).encode()
    assert len(text) > 4000  # what stands behind it is not judged
    baits = {path: links(*(farm[(7 * n + k) % 400] for k in range(1, 13))) for n, path in enumerate(farm)}
    bait = {path: each + text if first else text + each for path, each in baits.items()}
    with PageServer(bait, where=("127.0.0.2", 0)) as spam:
        honest = {
            path: on_topic(*chain[n + 1 : n + 2], number=500 + n)
            + links(*(f"{spam.origin}{each}" for each in farm[n::40]))
            for n, path in enumerate(chain)
        }
        with PageServer({"/": on_topic(chain[0], number=499), **honest}) as server:
            focused = (
                "--topic",
                WORD,
                "--tunnel-depth",
                50,
                "--scope",
                "any",
                "--no-sitemaps",
                "--clients",
                1,
                "--allow-private",
            )
            limit = ("--max-pages", 200, "--no-hold")
            assert sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, *focused, *limit).code == 0
            stored = [row["url"] for row in sanderling("pages", tmp_path / "c", "--json").lines if row["status"] == 200]
            found = {url.removeprefix(server.origin) for url in stored if url.startswith(server.origin)}
            # Links before the text count for the page as well, so that the farm takes more visits.
            assert len(found) > 20 if first else found == {"/", *chain}


def test_a_crawl_stops_when_it_brings_little(sanderling: Run, tmp_path: Path) -> None:
    """No page of this web is on the topic, and the harvest is that of the last pages."""
    with SyntheticWeb(pages=WINDOW + 500, seed=3, size=200, topics=3, vanish=0.0, appear=0.0).serve() as site:
        floor = ("--topic", WORD, "--tunnel-depth", 99, "--min-harvest", 0.05)
        ran = sanderling("crawl", site.url, "-d", tmp_path / "c", *FAST, *floor, "--clients", 1, "--json")
    assert ran.code == 0, ran.err
    assert f"0.0% of the last {WINDOW} pages are on the topic, less than min_harvest" in ran.err
    assert WINDOW <= ran.json["pages"] < WINDOW + 500


def test_a_crawl_stops_when_most_of_the_topic_is_found(sanderling: Run, tmp_path: Path) -> None:
    web = SyntheticWeb(pages=240, seed=5, topics=3, locality=0.5, vanish=0.0, appear=0.0)
    with web.serve() as site:
        inside = sorted(web.pages_at(0.0))
        mine = [site.url.rstrip("/") + url.partition(".test")[2] for url in inside if web.topic(url) == 1]
        others = [site.url.rstrip("/") + url.partition(".test")[2] for url in inside if web.topic(url) == 2]
        model = tmp_path / "one.topic"
        assert sanderling("topic", model, *mine[:12], "--not", *others[:12]).code == 0
        share = ("--topic", model, "--topic-share", 0.5, "--clients", 1)
        ran = sanderling("crawl", site.url, "-d", tmp_path / "c", *FAST, *share, "--json")
        assert ran.code == 0, ran.err
        assert "of the topic are found" in ran.err
        assert ran.json["found_share"]["low"] <= ran.json["found_share"]["share"] <= ran.json["found_share"]["high"]
        assert ran.json["found_share"]["share"] >= 0.5
        stored = {row["url"] for row in sanderling("pages", tmp_path / "c", "--json").lines if row["status"] == 200}
    # With twelve examples the estimate is rough. The crawl ends before it has everything.
    assert 0.25 < len(stored.intersection(mine)) / len(mine) < 1
    assert len(stored) < len(inside)


def test_a_crawl_without_a_topic_loads_nothing_of_topics_and_stores_no_relevance(
    sanderling: Run, tmp_path: Path
) -> None:
    """Neither its server nor its client, which tell what they import."""
    with SyntheticWeb(pages=10).serve() as site:
        own = command("crawl", site.url, "-d", tmp_path / "c", *FAST, "--clients", 1)
        env = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
        ran = subprocess.run(own, env=env, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 0, ran.stderr
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert {"sanderling.server.loop", "sanderling.client.crawler"} <= loaded
    assert not {name for name in loaded if name.startswith("sanderling.topics")}
    assert not (tmp_path / "c" / "sanderling.topic").exists()
    assert not [row for row in sanderling("pages", tmp_path / "c", "--json").lines if "relevance" in row]
    with reading(tmp_path / "c") as (_, store):
        assert not [*store.relevances(), *store.link_relevances()]


def test_a_page_that_is_relevant_no_longer_leaves_the_collection_first(sanderling: Run, tmp_path: Path) -> None:
    on = [f"/{WORD}/{n}" for n in range(8)]
    site = {"/": on_topic(*on, number=20), **{path: on_topic("/", number=30 + n) for n, path in enumerate(on)}}
    with PageServer(site) as server:
        kept = ("--topic", WORD, "--order", "breadth-first", "--collection", 9, "--no-sitemaps", "--clients", 1)
        assert sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, *kept).code == 0
        assert all(page["state"] == "fetched" for page in listed(sanderling, tmp_path / "c").values())
        server.table[on[3]] = off_topic("/", number=60)
        server.table["/"] = on_topic(*on, f"/{WORD}/new", number=21)
        server.table[f"/{WORD}/new"] = on_topic("/", number=61)
        assert sanderling("crawl", "-d", tmp_path / "c", *FAST, "--again").code == 0
        assert sanderling("crawl", "-d", tmp_path / "c", *FAST).code == 0
        state = {path: page["state"] for path, page in listed(sanderling, tmp_path / "c").items()}
        assert {path for path, each in state.items() if each != "fetched"} == {on[3]}


def test_one_example_makes_a_topic_and_says_that_more_would_be_better(sanderling: Run, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("Sanderlings run along the shore before each wave. " * 3)
    made = sanderling("topic", tmp_path / "one.topic", tmp_path / "one.txt")
    assert made.code == 0
    assert "1 example: five or more make a better model" in made.out
    assert "sanderlings" in made.out


def test_what_would_silently_do_nothing_is_said(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({"/": b"x"}) as server:
        alone = sanderling("crawl", server.origin, "-d", tmp_path / "c", "--tunnel-depth", 1, *FAST)
    assert (alone.code, alone.err.count("--tunnel-depth does nothing without --topic")) == (0, 1)


def test_several_topics_in_one_crawl(sanderling: Run, tmp_path: Path) -> None:
    """A page on any of the topics leads on. Each page and the crawl say how it stands to each of
    them."""
    other = "hydrography"
    site = {
        "/": off_topic("/sun", "/sea", "/none", number=1),
        "/sun": on_topic("/sun/more", number=2),
        "/sun/more": on_topic(number=3),
        "/sea": on_topic("/sea/more", number=4).replace(WORD.encode(), other.encode()),
        "/sea/more": on_topic(number=5).replace(WORD.encode(), other.encode()),
        "/none": off_topic("/none/more", number=6),
        "/none/more": off_topic(number=7),
    }
    folder = tmp_path / "c"
    with PageServer(site) as server:
        crawl = ("crawl", f"{server.origin}/", "-d", folder, *FAST, "--tunnel-depth", 1, "--no-sitemaps")
        ran = sanderling(*crawl, "--topic", WORD, "--topic", other)
        assert ran.code == 0, ran.err
        assert f"2 of them on {WORD}" in ran.out and f"2 of them on {other}" in ran.out
        shown = listed(sanderling, folder)
        assert {path for path, page in shown.items() if page["status"] == 200} == set(site) - {"/none/more"}
        sun, sea = (shown[path]["extracted"]["topics"] for path in ("/sun/more", "/sea"))
        assert sun[WORD] > 0.5 > sun[other] and sea[other] > 0.5 > sea[WORD]
        assert shown["/sun"]["relevance"] == pytest.approx(max(shown["/sun"]["extracted"]["topics"].values()), abs=1e-4)
        assert sanderling("status", folder, "--json").json["topics"] == {WORD: 2, other: 2}
        # They stay when the crawl goes on, and another model judges all pages again.
        assert sanderling("crawl", "-d", folder, *FAST).code == 0
        assert sanderling(*crawl, "--topic", f"{other}; tides").code == 0
        assert sanderling("status", folder, "--json").json["topics"] == {other: 2, "tides": 0}
        trained = sanderling("topic", folder, "--words", "sun")
        assert trained.code == 2 and "several topics" in trained.err
        twice = sanderling(*crawl, "--topic", WORD, "--topic", WORD)
        assert twice.code == 2 and "two topics are called" in twice.err
