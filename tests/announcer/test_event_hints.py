"""Which events of a page change it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sanderling.announcements import EventHint
from sanderling_announce.hints import hints_in
from tests.announcer.sites import SITE, WatchedSite

PAGE = """<body onload="start()">
<div id="next" onclick="text.innerHTML = Updateinfo()">next</div>
<button id="move" onclick="document.getElementById('text').innerHTML=Updateinfo();">move</button>
<p onmouseover="text.innerHTML = Updateinfo()">over</p>
<a id="more" ondblclick="more()" onkeydown="never()">more</a>
<form><button onclick="send()">send</button></form>
</body>"""


def test_equal_lines_are_combined_and_forms_left_out() -> None:
    assert hints_in(PAGE.encode()) == (
        EventHint(("onload",), ("body",), "", "start()"),
        EventHint(
            ("onclick", "onmouseover"), ('div id="next"', 'button id="move"', "p"), "text.innerHTML", "Updateinfo()"
        ),
        EventHint(("ondblclick",), ('a id="more"',), "", "more()"),
    )


def test_private_pages_and_broken_ones_give_none() -> None:
    assert hints_in(PAGE.encode() + b'<input type="Password">') == ()
    assert hints_in(b"<p>onclick = nothing") == ()
    assert hints_in(b"\xff\x00 <p onclick=") == ()
    assert len(hints_in("".join(f'<p onclick="f{n}()">' for n in range(500)).encode())) == 100
    assert hints_in(b'<p onclick="' + b"x" * 10_000 + b'">') == ()


def test_hints_are_in_the_report_but_not_in_rush_hours(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path)
    site.write("a.html")
    site.settle()
    site.reader.news()
    site.write("a.html", PAGE)
    site.settle()
    (change,) = site.reader.news()
    assert [hint.function for hint in change.hints] == ["start()", "Updateinfo()", "more()"]
    site.finish()


def test_pages_are_known_by_their_content(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, types=("php", "txt"))
    for name in ("a.php", "b.txt"):
        site.write(name)
    site.settle()
    site.reader.news()
    site.write("a.php", f"<!doctype html>{PAGE}")
    site.write("b.txt", "how to write onclick= by hand")
    site.settle()
    assert {change.url.rpartition("/")[2]: len(change.hints) for change in site.reader.news()} == {
        "a.php": 3,
        "b.txt": 0,
    }
    site.finish()


def test_lists_name_the_events_of_their_pages(tmp_path: Path) -> None:
    """A query gives the page itself, a command the name of a file that holds it."""
    page, listed = tmp_path / "page", tmp_path / "list"
    listed.write_text("a\t1\n")
    site = WatchedSite(tmp_path, command=f"cat {listed}")
    site.settle()
    site.reader.news()
    page.write_text(PAGE)
    listed.write_text(f"a\t2\t{page}\nb\t1\t{tmp_path}/nothing\n")
    site.settle()
    assert {change.url: len(change.hints) for change in site.reader.news()} == {f"{SITE}a": 3, f"{SITE}b": 0}
    site.finish()


def test_a_query_gives_pages_with_their_events(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE pages (url, version, html)")
        database.execute("INSERT INTO pages VALUES ('a', 1, '')")
        site = WatchedSite(tmp_path, sql="SELECT url, version, html FROM pages", database=str(path))
        site.settle()
        site.reader.news()
        database.execute("UPDATE pages SET version = 2, html = ?", (f"<body>{PAGE}",))
        site.settle()
    (change,) = site.reader.news()
    assert [hint.function for hint in change.hints] == ["start()", "Updateinfo()", "more()"]
    site.finish()
