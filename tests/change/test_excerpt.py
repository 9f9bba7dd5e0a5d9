"""The change itself is told, before → after."""

from pathlib import Path

import pytest
from turbohtml import parse

from sanderling.change.excerpt import MOST_LETTERS, excerpt
from sanderling.change.noise import volatile_places
from sanderling.change.page import paragraph_hash
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<p>79.00</p>", "<p>75.00</p>", "79.00 → 75.00"),
        ("<p>The fair opens on Monday at nine.", "<p>The fair opens on Friday at nine.", "fair opens on Monday → Friday"),
        ("<p>one<p>two", "<p>one<p>two<p>three", "+ three"),
        ("<p>one<p>two<p>three", "<p>one<p>three", "− two"),
        ("<p>one<p>two<p>three", "<p>three<p>one<p>two", "moved: three"),
        ("<p>one<p>two", "<p>one and more<p>two", "one + and more"),
        ("<p>a<a href=/x>b</a>", "<p>a<a href=/y>b</a>", "link: /x -> /y"),
        ("<p>a<img src=/old.png>", "<p>a<img src=/new.png>", "image: old.png -> new.png"),
        ("<link rel=stylesheet href=/a/blue.css><p>a", "<link rel=stylesheet href=/red.css><p>a", "look: blue.css -> red.css"),
        ("<style>p {color: red} b {}</style><p>a", "<style>p {color: blue} b {}</style><p>a", "look: p {color: red} -> p {color: blue}"),
        ("<script src=/a.js></script><p>a", "<script src=/b.js></script><p>a", "script: a.js -> b.js"),
        ("<p>a", "<p>a", ""),
    ],
)  # fmt: skip
def test_what_was_replaced_by_what(old: str, new: str, told: str) -> None:
    assert excerpt(parse(old), parse(new)) == told


def test_equal_changes_are_told_once_and_a_long_one_is_cut() -> None:
    lines = [f"<p>{name} costs 10 euro." for name in ("Lamp", "Lamp", "Lamp")]
    assert excerpt(parse("<hr>".join(lines)), parse("<hr>".join(lines).replace("10", "12"))) == "Lamp costs 10 → 12"
    long = excerpt(parse(""), parse("".join(f"<p>{f'word{n} ' * 90}" for n in range(50))))
    assert long.startswith("+ word0") and long.endswith("… and 48 more") and len(long) < MOST_LETTERS + 200


def test_noise_is_not_in_it() -> None:
    before, after = (parse(f"<p>Visitors:<p>{count}<p>Price:<p>{price}") for count, price in ((7, 79), (8, 75)))
    assert excerpt(before, after, {paragraph_hash("Visitors:")}) == "79 → 75"
    assert not volatile_places([None])


def test_every_report_has_it(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    price = ["79.00 <b>&amp;</b> more"]

    with PageServer({"/": lambda _: Answer(f"<title>Lamp</title><p>{price[0]}".encode())}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        price[0] = "75.00 <b>&amp;</b> more"
        sanderling("crawl", server.origin + "/", "-d", folder, "--again", *FAST)
        price[0] = "75.00 <b>&amp;</b> <i>more</i>"  # the last change is not the most important one
        sanderling("crawl", server.origin + "/", "-d", folder, "--again", *FAST)
    assert [row["excerpt"] for row in sanderling("changes", folder, "--json").lines][-1] == "79.00 → 75.00"
    assert "79.00 → 75.00" in sanderling("changes", folder).out
    assert "79.00 → 75.00" in sanderling("history", folder, server.origin + "/").out
    assert "79.00 → 75.00" in sanderling("digest", folder).out
    assert sanderling("digest", folder, "--json").json["sites"][0]["changed"][0]["excerpt"] == "79.00 → 75.00"
    assert "79.00 → 75.00" in sanderling("feed", folder).out


def test_a_moved_page_names_its_target(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    moved: list[str] = []

    def page(_: object) -> Answer:
        return Answer(b"", status=301, headers=(("Location", moved[0]),)) if moved else Answer(b"<p>Here")

    with PageServer({"/": b"<a href=/a>a</a>", "/a": page, "/b": b"<p>There"}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        moved.append("/b")
        sanderling("crawl", server.origin + "/", "-d", folder, "--again", *FAST)
    rows = {row["url"]: row for row in sanderling("changes", folder, "--json").lines}
    assert rows[server.origin + "/a"]["excerpt"] == f"→ {server.origin}/b"
