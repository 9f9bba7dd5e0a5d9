"""What the user watches is news whenever it changes."""

from pathlib import Path

import pytest

from sanderling.change.judging import rejudge
from sanderling.model import ChangeKind
from sanderling.settings import Rule
from tests.change.visited import VisitedPage
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer


def article(price: str = "79.00", stock: str = "Sold out", visitors: int = 0) -> str:
    return f"<h1>Lamp</h1><p class=price>{price}</p><p class=avail>{stock}</p><p>Visitors:</p><p>{visitors}</p>"


def test_every_restock_of_an_article_is_news() -> None:
    page = VisitedPage([Rule(watch=(".avail",))])
    stocks = ["Sold out", "In stock"] * 6
    assert page.news(article(stock=stock, visitors=at) for at, stock in enumerate(stocks)) == [False] + [True] * 11


def test_a_price_that_falls_at_every_visit_is_news_each_time() -> None:
    page = VisitedPage([Rule(watch=(".price",))])
    assert page.news(article(f"{79 - at}.00", visitors=at) for at in range(11)) == [False] + [True] * 10


def test_without_a_watch_the_same_page_is_noise() -> None:
    page = VisitedPage()
    assert page.news(article(stock=stock) for stock in ["Sold out", "In stock"] * 6)[-4:] == [False] * 4


def test_what_is_not_watched_is_no_change() -> None:
    page = VisitedPage([Rule(watch=(".price",))])
    assert not any(page.news(article(visitors=at) for at in range(6)))


@pytest.mark.parametrize("watched", [False, True])
def test_a_history_is_judged_anew_in_the_same_way(watched: bool) -> None:
    from turbohtml import parse

    from sanderling.change.judging import fingerprinter
    from sanderling.documents.visible import visible_text

    take = fingerprinter([Rule(watch=(".avail",))] if watched else ())
    bodies = [article(stock=stock) for stock in ["Sold out", "In stock"] * 4]
    documents = [parse(body) for body in bodies]
    versions = [
        (ChangeKind.TEXT, take(document, "https://example.org/")(visible_text(document), b"-"))
        for document in documents
    ]
    changes, _, _ = rejudge([(ChangeKind.NEW, versions[0][1]), *versions[1:]], 0, watched)
    assert [change.news for change in changes if change][-3:] == [watched] * 3


def test_a_selector_that_matches_nothing_is_told(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    page = ["<p class=price>79.00</p>"]
    folder.mkdir()
    settings = folder / "sanderling.toml"
    settings.write_text('rules = [{ watch = [".prize"] }]\n')
    with PageServer({"/": lambda _: Answer(f"<h1>Lamp</h1>{page[0]}".encode())}) as server:
        first = sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        assert f"`.prize` matches nothing on {server.origin}/" in first.err
        settings.write_text(settings.read_text().replace(".prize", ".sprize"))
        read = sanderling("crawl", "-d", folder, "--again", *FAST)
        assert "`.sprize` matches nothing on the 1 stored page it is for" in read.err
        settings.write_text(settings.read_text().replace(".sprize", ".price"))
        assert "matches nothing" not in sanderling("crawl", "-d", folder, "--again", *FAST).err
        page[0] = "<p class=cost>79.00</p>"
        sanderling("crawl", "-d", folder, "--again", *FAST)
    (row,) = sanderling("changes", folder, "--kind", "unmatched", "--json").lines
    assert row["summary"].startswith("`.price` no longer matches; ") and row["excerpt"] == "− 79.00"
