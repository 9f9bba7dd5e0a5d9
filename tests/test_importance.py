"""At the end of a crawl every page has an importance, whatever the order and size of the crawl."""

from pathlib import Path

import pytest

from sanderling.model import Counts
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.ranking import final_ranking
from sanderling.server.ranking.final_ranking import FinalRanking
from tests.conftest import FAST, Run
from tests.servers import PageServer


def page(name: str, *links: str) -> bytes:
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<title>{name}</title><p>All that there is to say about {name}.</p>{anchors}".encode()


def importances(sanderling: Run, folder: Path) -> dict[str, float]:
    rows = sanderling("pages", folder, "--json").lines
    return {row["url"].rpartition("/")[2]: row["importance"] for row in rows}


@pytest.mark.parametrize("order", ["pagerank", "breadth-first"])
def test_the_page_that_all_link_to_is_the_most_important(sanderling: Run, tmp_path: Path, order: str) -> None:
    table = {
        "/": page("home", "/a", "/b", "/c"),
        "/a": page("a", "/hub"),
        "/b": page("b", "/hub"),
        "/c": page("c", "/hub"),
    }
    with PageServer({**table, "/hub": page("hub", "/")}) as site:
        ran = sanderling("crawl", site.origin, "-d", tmp_path / "c", *FAST, "--order", order)
    assert ran.code == 0, ran.err
    found = importances(sanderling, tmp_path / "c")
    assert found["hub"] == 1.0
    assert 0 < found["a"] == found["b"] == found["c"] < found[""] <= 1.0


def test_a_large_crawl_is_weighed_in_a_process_of_its_own(
    sanderling: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "c"
    with PageServer({"/": page("home", "/a"), "/a": page("a", "/")}) as site:
        assert sanderling("crawl", site.origin, "-d", folder, *FAST).code == 0
    store = SqliteStore(folder / "sanderling.db")
    assert store.noted("weighed") == "2"
    store.weigh([(id, 0.0) for id, _ in store.importances()])
    monkeypatch.setattr(final_ranking, "FEW", 0)
    one = FinalRanking(store, folder, tmp_path / "weights")
    one.begin(Counts(known=2, versions=2))
    one.finish(lambda: False)  # nothing is new
    assert set(dict(store.importances()).values()) == {0.0}
    one.begin(Counts(known=2, versions=3))
    one.finish(lambda: False)
    assert all(dict(store.importances()).values())
    one.begin(Counts(known=2, versions=9))
    one.finish(lambda: True)  # the user does not wait for it
    one.close()
    assert store.noted("weighed") == "3"
    store.close()
