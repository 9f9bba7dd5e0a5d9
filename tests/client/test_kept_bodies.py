"""The filter before archives are stored or sent: what is left out stays recorded."""

from pathlib import Path

from sanderling.repository.archives import members
from sanderling.repository.warc import notes_of
from tests.conftest import FAST, Run, listed, stored_urls
from tests.papers import LONG_LINK, edited, paper
from tests.servers import Answer, PageServer, links


def test_bodies_of_other_types_and_urls_are_left_out(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    pages = {
        "/": links("/kept/a", "/kept/b.txt", "/other/c"),
        "/kept/a": b"<p>a page</p>",
        "/kept/b.txt": Answer(b"x" * 5000, "text/plain"),
        "/other/c": links("/kept/found"),
        "/kept/found": b"<p>its link is on a page whose body is left out</p>",
    }
    with PageServer(pages) as server:
        ran = sanderling(
            "crawl", server.origin, "-d", folder, *FAST, "--body-types", "text/html", "--body-urls", "/kept/",
            "--clients", 1, "--json",
        )  # fmt: skip
        assert (ran.code, ran.json["pages"]) == (0, 5), ran.err
    assert len(stored_urls(folder)) == 5
    rows = listed(sanderling, folder)
    assert rows["/kept/b.txt"]["size"] == 5000
    assert {path: row["reason"].partition(": ")[2] for path, row in rows.items() if row["reason"]} == {
        "/": "no pattern of body_urls matches",
        "/other/c": "no pattern of body_urls matches",
        "/kept/b.txt": "type text/plain",
    }
    left_out = [
        dict(notes_of(each.content))
        for path in (folder / "warc").glob("*.warc.gz")
        for each in members(path)
        if each.content and b"bodyLeftOut" in each.content
    ]
    assert len(left_out) == 3
    assert "5000" in {notes["bodysize"] for notes in left_out}
    assert all(notes["bodydigest"].startswith("sha1:") for notes in left_out)
    assert sanderling("check", folder, "--deep").code == 0


def test_text_and_links_are_enough(tmp_path: Path, sanderling: Run) -> None:
    """The archive holds the text and the links; search, changes and recovery work with them."""
    folder = tmp_path / "crawl"
    heavy = b"<script>" + b"x = 1;" * 3000 + b"</script>"
    pages = {
        "/": b"<html lang=en><title>Start</title>" + heavy + b"<p>first words &amp; more</p><a href=/a>next</a>",
        "/a": b"<title>A</title>" + heavy + b"<p>second words</p><a href=/>back</a>",
    }
    with PageServer(pages) as server:
        ran = sanderling("crawl", server.origin, "-d", folder, *FAST, "--body-text", "--clients", 1, "--json")
        assert (ran.code, ran.json["pages"]) == (0, 2), ran.err
        rows = listed(sanderling, folder)
        assert rows["/"]["size"] == len(pages["/"])
        assert {row["reason"] for row in rows.values()} == {
            "read, but its body is not kept: only its text and links are"
        }
        found = sanderling("search", folder, "second words", "--json")
        assert [each["title"] for each in found.lines] == ["A"]
        archived = b"".join(each.content or b"" for path in (folder / "warc").glob("*.gz") for each in members(path))
        assert heavy[:100] not in archived and f'href="{server.origin}/a"'.encode() in archived
        server.table["/a"] = b"<title>A</title>" + heavy + b"<p>third words</p><a href=/>back</a>"
        again = sanderling("crawl", "-d", folder, "--again", "--json")
        assert (again.json["changed"], again.json["visits"]) == (1, 4), again.out
        (change,) = sanderling("changes", folder, "--json").lines
        assert change["kinds"] == ["text"]
    assert sanderling("check", folder, "--deep").code == 0


def test_versions_that_say_the_same_are_not_kept(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    pages = {"/": b"<p>the same words</p><a href=/a>next</a>", "/a": b"<p>some words</p>"}
    with PageServer(pages) as server:
        ran = sanderling("crawl", server.origin, "-d", folder, *FAST, "--body-changed", "--clients", 1, "--json")
        assert (ran.code, ran.json["versions"]) == (0, 2), ran.err
        server.table["/"] = b"<p class=new>the same words</p><a href=/a>next</a>"
        server.table["/a"] = b"<p class=new>other words</p>"
        again = sanderling("crawl", "-d", folder, "--again", "--revisit-records", "--json")
        assert (again.json["versions"], again.json["changed"]) == (3, 1), again.out
    (left_out,) = [
        dict(notes_of(each.content))
        for path in (folder / "warc").glob("*.warc.gz")
        for each in members(path)
        if each.content and b"bodyLeftOut" in each.content
    ]
    assert left_out["bodysize"] == str(len(server.table["/"])) and left_out["bodyleftout"] == "its text is as before"
    assert sanderling("check", folder, "--deep").code == 0


def test_text_and_links_of_office_documents_are_enough_too(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": links("/tides"), "/tides": Answer(paper("tides.odt"), "application/octet-stream")}) as server:
        sanderling("crawl", server.origin, "-d", folder, *FAST, "--body-text", "--clients", 1)
        archived = b"".join(each.content or b"" for path in (folder / "warc").glob("*.gz") for each in members(path))
        assert b"PK\x03\x04" not in archived
        assert f'href="{LONG_LINK}"'.encode() in archived and b"<p>The curlew feeds" in archived
        assert [each["title"] for each in sanderling("search", folder, "curlew", "--json").lines] == ["Tides & birds"]
        body = edited(paper("tides.odt"), {"curlew": "plover"})
        server.table["/tides"] = Answer(body, "application/octet-stream")
        sanderling("crawl", "-d", folder, "--again")
        told = sanderling("diff", folder, server.origin + "/tides").out
        changed = [line for line in told.splitlines() if line.lstrip().startswith(("- ", "+ "))]
        assert len(changed) == 2 and "curlew" in changed[0] and "plover" in changed[1], told
