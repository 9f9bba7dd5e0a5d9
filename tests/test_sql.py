"""Questions in SQL."""

import json
import sqlite3
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest

import sanderling as package
from tests.conftest import Run
from tests.servers import Answer, PageServer, links

SHOP = """
from sanderling import extractor

def price(page):
    return {'price': 11.5} if 'eleven' in page.text else None

@extractor(key="id")
def goods(page):
    if page.url.endswith("/a"):
        yield {"id": 1, "Url": "x", "cost": 2, "in": [1]}
        yield {"id": 2, "cost": 2.5, "in": None}
    else:
        yield {"id": 1, "cost": 1}
"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sql")
    (path / "shop.py").write_text(SHOP)
    pages = {"/": links("/a", "/gone"), "/a": b"<title>A</title><p>eleven", "/gone": Answer(b"", status=404)}
    with PageServer(pages) as server:
        for again in (False, True):
            chosen = {"extractors": [f"{path / 'shop.py'}:{name}" for name in ("price", "goods")]} if not again else {}
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


def test_items_of_one_key_are_one_and_have_columns(sanderling: Run, crawl: Path) -> None:
    items = sanderling(
        "sql", crawl, "SELECT key, url, item FROM items WHERE extractor = 'goods' ORDER BY key", "--json"
    )
    assert [each["key"] for each in items.lines] == ["1", "2"]
    assert all(each["url"].endswith("/a") for each in items.lines)  # it changed last
    table = sanderling("sql", crawl, 'SELECT id, Url_, cost, "in" FROM goods ORDER BY id', "--json").lines
    assert table == [{"id": 1, "Url_": "x", "cost": 2.0, "in": "[1]"}, {"id": 2, "Url_": None, "cost": 2.5, "in": None}]


def test_exported_tables(sanderling: Run, crawl: Path, tmp_path: Path) -> None:
    def export(name: str, *options: object) -> Path:
        ran = sanderling("export", crawl, "--format", name.partition(".")[2], "-o", tmp_path / name, *options)
        assert ran.code == 0, ran.err
        return tmp_path / name

    goods = [(1, "x", 2.0, "[1]"), (2, None, 2.5, None)]
    lines = [json.loads(line) for line in export("x.items").read_text().splitlines()]
    assert sorted((each["extractor"], each["key"]) for each in lines) == [
        ("goods", "1"),
        ("goods", "2"),
        ("price", None),
    ]
    rows = export("x.csv", "--table", "goods").read_text().splitlines()
    assert rows[0] == "url,changed_at,id,Url_,cost,in" and len(rows) == 3
    table = pyarrow.parquet.read_table(export("x.parquet", "--table", "goods"))
    assert table.column("cost").to_pylist() == [2.0, 2.5]
    query = 'SELECT id, Url_, cost, "in" FROM goods ORDER BY id'
    with duckdb.connect(str(export("x.duckdb"))) as database:
        assert database.execute(query).fetchall() == goods
        assert database.execute("SELECT count(*) FROM changes WHERE kinds = 'text'").fetchone() == (1,)
    database = sqlite3.connect(export("x.sqlite"))
    assert database.execute(query).fetchall() == goods
    assert database.execute("SELECT count(*) FROM pages WHERE status = 200").fetchone() == (2,)
    database.close()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("csv",), "name a table"),
        (("csv", "--table", "nothing"), "no table 'nothing'"),
        (("jsonl", "--table", "goods"), "--table is for"),
        (("sqlite", "-o", "-"), "name one with -o"),
    ],
)
def test_mistakes_in_exports(
    sanderling: Run, crawl: Path, tmp_path: Path, options: tuple[str, ...], complaint: str
) -> None:
    ran = sanderling("export", crawl, "-o", tmp_path / "x", "--format", *options)
    assert ran.code == 2 and complaint in ran.err and len(ran.err.splitlines()) == 1
    assert not (tmp_path / "x").exists()
