"""Questions in SQL."""

from pathlib import Path

import pytest

import sanderling as package
from tests.conftest import Run
from tests.servers import Answer, PageServer, links


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sql")
    (path / "shop.py").write_text("def price(page): return {'price': 11.5} if 'eleven' in page.text else None")
    pages = {"/": links("/a", "/gone"), "/a": b"<title>A</title><p>eleven", "/gone": Answer(b"", status=404)}
    with PageServer(pages) as server:
        for again in (False, True):
            chosen = {"extractors": [f"{path / 'shop.py'}:price"]} if not again else {}
            with package.Crawl(path / "c", [server.origin], again=again, delay=0, clients=1, **chosen) as crawl:  # type: ignore[arg-type]
                list(crawl)
            server.table["/a"] = b"<title>A</title><p>eleven and more words"
    return path / "c"


def test_tables(sanderling: Run, crawl: Path) -> None:
    def ask(query: str) -> list[dict[str, object]]:
        return sanderling("sql", crawl, query, "--json").lines

    assert ask("SELECT count(*) AS n FROM pages WHERE status = 200") == [{"n": 2}]
    assert ask("SELECT title FROM pages WHERE url LIKE '%/a'") == [{"title": "A"}]
    assert ask("SELECT count(*) AS n, count(DISTINCT url) AS u FROM versions") == [{"n": 3, "u": 2}]
    assert ask("SELECT count(*) AS n FROM changes WHERE kinds = 'text'") == [{"n": 1}]
    assert ask("SELECT reason FROM failures") == [{"reason": "answered 404"}]
    assert ask("SELECT count(*) AS n FROM links") == [{"n": 2}]
    assert ask("SELECT fetched, gone FROM hosts") == [{"fetched": 2, "gone": 1}]
    assert ask("SELECT extractor FROM items WHERE CAST(item->>'price' AS DOUBLE) > 11") == [{"extractor": "price"}]


def test_how_answers_look(sanderling: Run, crawl: Path) -> None:
    assert (
        sanderling("sql", crawl, "SELECT title, status FROM pages ORDER BY title, status", "--csv").out
        == "title,status\n,200\n,404\nA,200\n"
    )
    assert sanderling("sql", crawl, "SELECT 1 AS one, NULL AS none").out == "one  none\n1\n"


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("SELECT nothing FROM pages", "nothing"),
        ("SELEC 1", "syntax error"),
        ("DELETE FROM pages", "only a SELECT"),
        ("SELECT 1; SELECT 2", "one query"),
        ("SELECT * FROM read_text('/etc/passwd')", "disabled"),
        ("SELECT * FROM '/etc/passwd'", "passwd"),
        ("COPY pages TO '/tmp/x.csv'", "only a SELECT"),
    ],
)
def test_mistakes(sanderling: Run, crawl: Path, query: str, complaint: str) -> None:
    ran = sanderling("sql", crawl, query)
    assert ran.code == 2 and complaint in ran.err and "root:" not in ran.out + ran.err, ran.err
