"""Stored pages are judged again when the model of the topic has changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store, settings_for
from sanderling.server.topic import rejudging
from sanderling.testing.prose import sentences
from sanderling.topics.model import Topic, read
from tests.conftest import FAST, Run, listed
from tests.servers import PageServer, links

FIRST, SECOND = "photovoltaics", "gardening"
FOCUSED = ("--topic", FIRST, "--tunnel-depth", 0, "--no-sitemaps", "--clients", 1)


def about(word: str, number: int, *targets: str) -> bytes:
    text = " ".join(sentences(5)[8 * number : 8 * number + 8])
    return links(*targets) + f"<title>page {number}</title><p>{f'{word} ' * 9 if word else ''}{text}".encode()


@pytest.fixture
def site() -> Iterator[PageServer]:
    """The front page is about both. Behind a page of each topic is one page more."""
    sun, green = [f"/sun/{n}" for n in range(6)], [f"/green/{n}" for n in range(6)]
    table = {"/": about(f"{FIRST} {SECOND}", 0, *sun, *green)}
    for n in range(6):
        table[sun[n]] = about(FIRST, 10 + n, f"/behind-sun/{n}")
        table[green[n]] = about(SECOND, 20 + n, f"/behind-green/{n}")
        table[f"/behind-sun/{n}"] = about("", 30 + n)
        table[f"/behind-green/{n}"] = about("", 40 + n)
    with PageServer(table) as server:
        yield server


def relevances(sanderling: Run, folder: Path) -> dict[str, float]:
    return {path: page["relevance"] for path, page in listed(sanderling, folder).items() if page["status"] == 200}


def test_search_and_tunnelling_follow_a_model_that_was_trained_further(
    sanderling: Run, site: PageServer, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{site.origin}/", "-d", folder, *FAST, *FOCUSED, *kept_in).code == 0
    before = relevances(sanderling, folder)
    assert {path for path, each in before.items() if each >= 0.5} == {"/", *(f"/sun/{n}" for n in range(6))}
    assert "/behind-green/0" not in before  # held: its page is not on the topic

    good, bad = ([f"{site.origin}/{name}/{n}" for n in range(6)] for name in ("green", "sun"))
    taught = sanderling("topic", folder, *good, "--not", *bad, "--forget", f"words: {FIRST}")
    assert taught.code == 0, taught.err
    assert "all pages are judged by this model" in taught.err
    after = relevances(sanderling, folder)
    assert all(after[f"/green/{n}"] > 0.5 > after[f"/sun/{n}"] for n in range(6))
    found = sanderling("search", folder, "relevance:>0.5 *", "--json").lines
    assert {hit["url"].removeprefix(site.origin) for hit in found} == {p for p, each in after.items() if each > 0.5}
    # What a page that is relevant now links to goes on.
    assert sanderling("crawl", "-d", folder, *FAST).code == 0
    assert {f"/behind-green/{n}" for n in range(6)} <= set(relevances(sanderling, folder))
    assert sanderling("check", folder).code == 0


def test_a_crawl_judges_again_what_another_model_has_judged(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", f"{site.origin}/", "-d", folder, *FAST, *FOCUSED).code == 0
    other = tmp_path / "other.topic"
    assert sanderling("topic", other, "--words", SECOND).code == 0
    again = sanderling("crawl", "-d", folder, *FAST, "--topic", other)
    assert again.code == 0, again.err
    assert "the model of the topic changed: all pages were judged again" in again.err
    after = relevances(sanderling, folder)
    assert after["/green/0"] > 0.5 > after["/sun/0"]
    assert "judged again" not in sanderling("crawl", "-d", folder, *FAST).err


def forget_judgements(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "sanderling.db")) as db, db:
        db.execute("UPDATE pages SET relevance = 0.123")
        db.execute("UPDATE meta SET value = 'another' WHERE key = ?", (rejudging.JUDGED_BY,))


def test_it_says_what_clients_said_and_goes_on_where_it_was(
    sanderling: Run, site: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "c"
    assert sanderling("crawl", f"{site.origin}/", "-d", place, *FAST, *FOCUSED).code == 0
    said, held = relevances(sanderling, place), sanderling("pages", place, "--held", "--json").out
    forget_judgements(place)
    monkeypatch.setattr(rejudging, "BATCH", 4)
    folder = Folder(place)
    topic, settings = read(folder.topic), settings_for(folder, {})[0]
    with closing(open_store(folder, readonly=False)) as store:
        assert rejudging.is_behind(store, topic)
        assert not rejudging.judge_anew(store, folder, settings, topic, lambda done, all: False)
        assert rejudging.is_behind(store, topic)
    half = relevances(sanderling, place)
    assert len([path for path, each in half.items() if each != 0.123]) == 4
    assert "still judged by the model before" in sanderling("status", place).err
    seen: list[int] = []
    with closing(open_store(folder, readonly=False)) as store:
        assert rejudging.judge_anew(store, folder, settings, topic, lambda done, all: not seen.append(done))
        assert not rejudging.is_behind(store, topic)
    assert sanderling("status", place).err == ""
    assert seen[0] > 4  # the first four are not read again
    assert relevances(sanderling, place) == pytest.approx(said)
    assert sanderling("pages", place, "--held", "--json").out == held
    assert sanderling("check", place).code == 0


def test_a_page_that_was_cut_short_and_is_relevant_now_is_loaded_whole(sanderling: Run, tmp_path: Path) -> None:
    text = "".join(f"<p>{sentence}</p>\n" for sentence in sentences(3)[:2000])
    long = f"<title>{SECOND}</title>{SECOND} {SECOND} {SECOND} {SECOND} {text[: 100 * 1024]}".encode()
    table = {"/": about(FIRST, 0, "/long"), "/long": long}
    with PageServer(table) as server:
        folder = tmp_path / "c"
        assert sanderling("crawl", f"{server.origin}/", "-d", folder, *FAST, *FOCUSED, "--cut-short").code == 0
        assert listed(sanderling, folder)["/long"]["truncated"]
        other = tmp_path / "other.topic"
        assert sanderling("topic", other, "--words", SECOND).code == 0
        assert sanderling("crawl", "-d", folder, *FAST, "--topic", other, "--again").code == 0
        assert not listed(sanderling, folder)["/long"]["truncated"]
        assert listed(sanderling, folder)["/long"]["size"] == len(long)
        assert sanderling("changes", folder, "--json").lines == []


def test_only_a_crawl_with_a_topic_can_be_judged_again(sanderling: Run, tmp_path: Path) -> None:
    assert sanderling("topic", tmp_path / "a.topic", "--words", FIRST).code == 0
    ran = sanderling("topic", tmp_path / "a.topic", "--judge")
    assert ran.code == 2
    assert "--judge needs the folder of a crawl" in ran.err


def test_models_are_known_again(tmp_path: Path) -> None:
    from sanderling.server.topic.topic import of_words

    one: Topic = of_words(FIRST)
    assert rejudging.mark_of(one) == rejudging.mark_of(of_words(FIRST))
    assert rejudging.mark_of(one) != rejudging.mark_of(of_words(SECOND))
