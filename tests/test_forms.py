"""Forms: what a crawl lists, sends and never sends, with real servers and stores."""

from pathlib import Path

from tests.conftest import FAST, Run
from tests.servers import PageServer

SEARCH = b"<form action=/find role=search><label>Words <input name=q></label><input type=submit value=Search></form>"
LOGIN = b"<form method=post action=/login><input name=user><input type=password name=pass></form>"


def test_forms_of_a_crawl_that_sends_none_are_listed_from_the_archive(tmp_path: Path, sanderling: Run) -> None:
    pages = {"/": b"<title>Home</title>" + SEARCH + b'<a href="/b">b</a>', "/b": b"<title>B</title>" + SEARCH + LOGIN}
    with PageServer(pages) as server:
        sanderling("crawl", server.origin + "/", "-d", tmp_path / "c", *FAST)
        asked = {urlpath(each.url) for each in server.asked}
    listed = sanderling("forms", tmp_path / "c", "--json").lines
    assert [(form["kind"], form["method"], form["pages"], form["state"]) for form in listed] == [
        ("search", "GET", 2, "not sent"),
        ("login", "POST", 1, "not sent"),
    ]
    assert listed[0]["fields"][0] == {"name": "q", "type": "text", "label": "Words"}
    assert listed[1]["reason"] == "login forms are never sent"
    assert not asked & {"/find", "/login"}
    text = sanderling("forms", tmp_path / "c", "--kind", "search").out
    assert "this crawl does not send search forms" in text and "login" not in text


def urlpath(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]
