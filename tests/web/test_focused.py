"""Focused crawls that are started in the dashboard, and what it shows of them."""

from pathlib import Path

import pytest

from sanderling.errors import BadSeed, BadTopic
from sanderling.server.topic.topic import of_words
from sanderling.testing import SyntheticWeb
from sanderling.topics.model import read, write
from sanderling.web.running import Runner
from sanderling.web.shelf import Shelf
from tests.servers import PageServer
from tests.web.served import running
from tests.web.test_pages import attribute, tree
from tests.web.test_starting import filled, send, wait_for

MARKS = "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Birds</H3><DL><p>{}</DL></DL>"


def test_words_or_bookmarks_start_a_focused_crawl(tmp_path: Path) -> None:
    web = SyntheticWeb(pages=60, seed=7, topics=3, locality=0.8, vanish=0.0, appear=0.0)
    with web.serve() as site, running(tmp_path, "--allow-private") as server:
        mine = [url.partition(".test/")[2] for url in sorted(web.pages_at(0.0)) if web.topic(url) == 1]
        marks = MARKS.format("".join(f'<DT><A HREF="{site.url}{each}">a bird</A>' for each in mine[:6]))
        word = web.title(f"http://host0.test/{mine[0]}").split()[0].lower()
        for name, typed in (("marks", {"examples": marks}), ("words", {"topic": word})):
            made = send(server, "/new", "/new", seeds=site.url, name=name, per_host="8", delay="0", **typed)
            assert made.status_code == 303, made.text
            wait_for(server, name, "The crawl is finished")
            overview = tree(server, f"/crawls/{name}").text
            assert "are on the topic" in overview
            assert "fetched by their distance from the start (dashed)" in overview
        learned = read(tmp_path / "marks" / "sanderling.topic")
        assert {each.source for each in learned.examples} == {f"{site.url}{each}" for each in mine[:6]}
        assert read(tmp_path / "words" / "sanderling.topic").name == word
        (page, *_) = server.http.get("/api/v1/crawls/marks/pages").json()["items"]
        where = f"/api/v1/crawls/marks/topic/examples/{page['id']}"
        taught = server.http.put(where, json={"relevant": False}, headers={"X-Sanderling": "1"})
        assert taught.status_code == 200, taught.text
        assert {"source": page["url"], "relevant": False} in taught.json()["examples"]
        links = (attribute(each, "href") for each in tree(server, "/crawls/marks/pages").find_all("a"))
        shown = tree(server, [link for link in links if link.startswith("/crawls/marks/pages/")][3]).text
        for part in (
            "Words of the link",
            "Page it was found on",
            "Pages that link to it",
            "Its host, on average",
            "Rank in the queue",
        ):
            assert part in shown


def test_models_and_bookmarks_are_taken_as_files(tmp_path: Path) -> None:
    """In the form, which sends files, and in the API."""
    write(tmp_path / "waders.topic", of_words("waders"))
    model = (tmp_path / "waders.topic").read_text()
    (shelf := tmp_path / "shelf").mkdir()
    with PageServer({"/": b"<p>waders", "/a": b"<p>more waders"}) as site, running(shelf, "--allow-private") as server:
        marks = MARKS.format(f'<DT><A HREF="{site.origin}/">one</A><DT><A HREF="{site.origin}/a">two</A>')
        made = server.http.post(
            "/new", data={**filled(tree(server, "/new"), "/new"), "name": "form"},
            files={"seeds_file": ("marks.html", marks), "examples_file": ("waders.topic", model)},
        )  # fmt: skip
        assert made.status_code == 303, made.text
        wait_for(server, "form", "The crawl is finished")
        asked = {"bookmarks": marks, "examples": model, "name": "api", "start": False}
        api = server.http.post("/api/v1/crawls", json=asked, headers={"X-Sanderling": "1"})
        assert api.status_code == 201, api.text
        for name in ("form", "api"):
            assert read(shelf / name / "sanderling.topic").name == "waders"
            assert server.http.get(f"/api/v1/crawls/{name}").json()["seeds"] == [f"{site.origin}/", f"{site.origin}/a"]
        bad = server.http.post("/api/v1/crawls", json={**asked, "examples": "{}"}, headers={"X-Sanderling": "1"})
        assert bad.status_code == 400 and "are no model" in bad.text
        none = server.http.post("/api/v1/crawls", json={"name": "none"}, headers={"X-Sanderling": "1"})
        assert none.status_code == 400 and "at least one seed" in none.text


def test_words_need_no_permission_and_private_examples_do(tmp_path: Path) -> None:
    runner = Runner(Shelf([tmp_path]))
    start = ["http://1.1.1.1/"]
    assert 'topic = "birds"' in runner.create("words", start, {"topic": "birds"}).settings.read_text()
    with pytest.raises(BadSeed, match="private address"):
        runner.create("inside", start, {}, "http://127.0.0.1/bird")
    with pytest.raises(BadTopic, match="name no address"):
        runner.create("none", start, {}, MARKS.format(""))
    assert [each.name for each in tmp_path.iterdir()] == ["words"]
