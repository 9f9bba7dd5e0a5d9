"""The filter before archives are stored or sent: what is left out stays recorded."""

from pathlib import Path

from sanderling.repository.archives import members
from sanderling.repository.warc import notes_of
from tests.conftest import FAST, Run, listed, stored_urls
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
    assert sanderling("check", folder).code == 0
