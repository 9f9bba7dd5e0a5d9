"""Which events of a page change it."""

from pathlib import Path

from sanderling.announcements import EventHint
from sanderling.announcer.hints import hints_in
from tests.announcer.sites import WatchedSite

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
