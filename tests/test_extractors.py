"""The user's own functions, run over the pages of real crawls."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import sanderling as package
from tests.conftest import FAST, Run, listed, said
from tests.servers import Answer, PageServer, links
from tests.web.served import running

SHOP = '''
from pathlib import Path

def product(page):
    """Notes each run in a file beside this one."""
    with Path(__file__).with_suffix(".runs").open("a") as runs:
        runs.write(page.url.rpartition("/")[2] + "\\n")
    if page.tree is None:
        return {"type": page.mime, "text": page.text, "language": page.headers.get("content-language")}
    price = page.tree.select_one(".price")
    return {"price": float(price.text), "links": page.links(), "items": len(page.tree.select("li"))} if price else None

def heading(page):
    return {"name": page.title, "status": page.status}

def raises(page):
    raise KeyError("no\\x1b[31m\\nsuch " + page.url.rpartition("/")[2])

def not_a_dict(page):
    return ["a list"]

def not_json(page):
    return {"at": {1, 2}}

def not_a_number(page):
    return {"price": float("nan")}

def too_large(page):
    return {"body": "\\u00e4" * 140_000}

def ends_the_process(page):
    import os
    if page.url.endswith("/b"):
        os._exit(3)
    return {"fine": True}
'''


def product(price: object) -> bytes:
    return (
        f"<html lang=en><title>Shoe</title><ul><li>a<li>b</ul><p class=price>{price}</p>"
        '<a href="/b#top" rel=nofollow>b</a> <a href="/b">b</a> <a href="mailto:x@example.org">c</a>'
    ).encode()


@pytest.fixture
def site() -> Iterator[PageServer]:
    """A page that costs more on every visit, one that stays, and a text."""
    table = {
        "/": links("/a", "/b", "/notes.txt"),
        "/a": lambda asked: product(10 + asked),
        "/b": product(20),
        "/notes.txt": Answer(b"just words", "text/plain", headers=(("Content-Language", "de"),)),
    }
    with PageServer(table) as server:
        yield server


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.py"
    path.write_text(SHOP)
    return path


def named(shop: Path, *functions: str) -> list[str]:
    return [word for each in functions for word in ("--extractor", f"{shop}:{each}")]


def test_data_is_stored_with_each_version(
    sanderling: Run, site: PageServer, shop: Path, tmp_path: Path, kept_in: list[object]
) -> None:
    folder, runs = tmp_path / "crawl", tmp_path / "shop.runs"
    given = named(shop, "product", "heading")
    ran = sanderling("crawl", site.origin, "-d", folder, *given, *kept_in, *FAST)
    assert ran.code == 0 and said(ran.err) == []
    pages = listed(sanderling, folder)
    seen = {"price": 11.0, "links": [f"{site.origin}/b"], "items": 2}
    assert pages["/a"]["extracted"] == {"product": seen, "heading": {"name": "Shoe", "status": 200}}
    assert pages["/"]["extracted"] == {"heading": {"name": "", "status": 200}}
    text = {"type": "text/plain", "text": "just words", "language": "de"}
    assert pages["/notes.txt"]["extracted"]["product"] == text
    assert sorted(runs.read_text().split()) == ["a", "b", "notes.txt"]

    runs.unlink()
    assert sanderling("crawl", "-d", folder, "--again", *FAST).code == 0
    assert runs.read_text().split() == ["a"]  # the only one that changed
    history = sanderling("history", folder, f"{site.origin}/a", "--json").lines
    assert [each["extracted"]["product"]["price"] for each in history] == [11.0, 12.0]
    pages = listed(sanderling, folder)
    assert [pages[path]["extracted"]["product"]["price"] for path in ("/a", "/b")] == [12.0, 20.0]

    export = tmp_path / "pages.jsonl"
    assert sanderling("export", folder, "--format", "jsonl", "-o", export).code == 0
    exported = {each["url"]: each for each in map(json.loads, export.read_text().splitlines())}
    assert exported[f"{site.origin}/b"]["extracted"]["product"]["price"] == 20.0
    hits = sanderling("search", folder, "data.product.price:12", "--json").lines
    assert [hit["url"] for hit in hits] == [f"{site.origin}/a"]
    assert not sanderling("search", folder, "data.product.price:11", "--json").lines
    assert len(sanderling("search", folder, "data.product.price:11", "--json", "--versions").lines) == 1


def test_an_extractor_that_fails_costs_its_data_and_one_line(
    sanderling: Run, site: PageServer, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    failing = ("raises", "not_a_dict", "not_json", "not_a_number", "too_large")
    ran = sanderling("crawl", site.origin, "-d", folder, *named(shop, *failing, "heading"), "--clients", 1, *FAST)
    assert ran.code == 0
    told = said(ran.err)
    assert len(told) == len(failing)
    reasons = (
        "KeyError",
        "str instead of an item",
        "set, which JSON cannot hold",
        "nan, which JSON cannot hold",
        "more than 256 KiB",
    )
    for line, name, why in zip(told, failing, reasons, strict=True):
        assert f"{shop}:{name} failed on {site.origin}/: " in line and why in line, line
        assert line.isprintable()
    pages = listed(sanderling, folder)
    assert len(pages) == 4 and {page["state"] for page in pages.values()} == {"fetched"}
    assert all(page["extracted"].keys() == {"heading"} for page in pages.values())


def test_a_page_on_which_an_extractor_ends_the_process_is_set_aside(
    sanderling: Run, site: PageServer, shop: Path, tmp_path: Path
) -> None:
    ran = sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *named(shop, "ends_the_process"), *FAST)
    assert ran.code == 0 and "1 set aside" in ran.out
    pages = listed(sanderling, tmp_path / "crawl")
    assert pages["/b"]["state"] == "failed" and pages["/b"]["extracted"] is None
    assert pages["/a"]["extracted"] == {"ends_the_process": {"fine": True}}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("missing.py:f", "No such file"),
        ("shop.py:missing", "has no function 'missing'"),
        ("shop.py:", "has no function ''"),
        ("shop.py:__name__", "has no function"),
        ("broken.py:f", "SyntaxError"),
        ("leaves.py:f", "SystemExit"),
        (".", "no installed package"),
        ("nobody", "no installed package offers 'nobody'"),
        ("no.such.module:f", "ModuleNotFoundError"),
        (":f", "cannot be loaded"),
        ("folder.py:f", "IsADirectoryError"),
    ],
)
def test_one_that_cannot_be_loaded_ends_the_command(
    sanderling: Run, shop: Path, tmp_path: Path, given: str, says: str
) -> None:
    (tmp_path / "broken.py").write_text("def f(:")
    (tmp_path / "leaves.py").write_text("raise SystemExit('bye')")
    (tmp_path / "folder.py").mkdir()
    if ".py" in given:
        given = str(tmp_path / given)
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", "--extractor", given)
    assert ran.code == 2
    (line,) = ran.err.splitlines()
    assert says in line and repr(given) in line
    assert not (tmp_path / "crawl").exists()


def test_two_of_one_name_are_refused(sanderling: Run, shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(SHOP)
    given = [*named(shop, "heading"), *named(other, "heading")]
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", *given)
    assert ran.code == 2 and "have the same name" in ran.err


def test_files_are_found_from_the_folder_and_from_here(
    sanderling: Run, site: PageServer, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sanderling("crawl", site.origin, "-d", "crawl", *named(Path("shop.py"), "heading"), *FAST).code == 0
    settings = tmp_path / "crawl" / "sanderling.toml"
    assert f'extractors = ["{shop}:heading"]' in settings.read_text()
    (tmp_path / "crawl" / "mine.py").write_text("def mine(page): return {'here': True}")
    settings.write_text(settings.read_text().replace(f"{shop}:heading", "mine.py:mine"))
    assert sanderling("crawl", "-d", "crawl", "--again", *FAST).code == 0
    assert listed(sanderling, tmp_path / "crawl")["/a"]["extracted"] == {"mine": {"here": True}}


def test_installed_functions_and_entry_points(sanderling: Run, site: PageServer, shop: Path, tmp_path: Path) -> None:
    about = tmp_path / "shop-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[sanderling.extractors]\ntitles = shop:heading\n")
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    given = ("--extractor", "titles", "--extractor", "shop:product")
    assert sanderling("crawl", site.origin, "-d", tmp_path / "crawl", *given, *FAST, env=env).code == 0
    assert listed(sanderling, tmp_path / "crawl")["/b"]["extracted"].keys() == {"titles", "product"}


def test_stored_pages_get_data(
    sanderling: Run, site: PageServer, shop: Path, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin, "-d", folder, *kept_in, *FAST).code == 0
    assert sanderling("search", folder, "data.product.price:11", "--json").out == ""
    ran = sanderling("extract", folder)
    assert ran.code == 2 and "names no extractors" in ran.err
    with (folder / "sanderling.toml").open("a") as settings:
        settings.write('extractors = ["../shop.py:product", "../shop.py:raises"]')
    asked = len(site.asked)
    ran = sanderling("extract", folder)
    assert ran.code == 0 and ran.out.startswith("data of 3 of 4 pages stored"), ran.out + ran.err
    assert len(said(ran.err)) == 1 and "shop.py:raises failed on" in ran.err
    assert len(site.asked) == asked
    pages = listed(sanderling, folder)
    seen = {"price": 11.0, "links": [f"{site.origin}/b"], "items": 2}
    assert pages["/a"]["extracted"] == {"product": seen} and pages["/"]["extracted"] is None
    text = {"type": "text/plain", "text": "just words", "language": "de"}
    assert pages["/notes.txt"]["extracted"] == {"product": text}
    assert len(sanderling("search", folder, "data.product.price:11", "--json").lines) == 1


def test_data_in_the_library(site: PageServer, shop: Path, tmp_path: Path) -> None:
    async def crawled() -> dict[str, object]:
        extractors = [f"{shop}:heading"]
        async with package.Crawl(tmp_path / "crawl", [site.origin], extractors=extractors, delay=0, clients=1) as crawl:
            return {page.url: page.data async for page in crawl}

    assert asyncio.run(crawled())[f"{site.origin}/b"] == {"heading": {"name": "Shoe", "status": 200}}


def test_data_over_http_and_in_the_dashboard(sanderling: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def bad(page): return {'<b>name': '<script>alert(1)</script>\\u202e', 'nested': {'a': [1, None]}}")
    with PageServer({"/": b"<title>T</title>words"}) as site:
        (tmp_path / "shelf").mkdir()
        assert sanderling("crawl", site.origin, "-d", tmp_path / "shelf" / "c", *named(bad, "bad"), *FAST).code == 0
    with running(tmp_path / "shelf") as server:
        get = server.http.get
        (page,) = get("/api/v1/crawls/c/pages").json()["items"]
        data = {"bad": {"<b>name": "<script>alert(1)</script>\u202e", "nested": {"a": [1, None]}}}
        assert get(f"/api/v1/crawls/c/pages/{page['id']}").json()["extracted"] == data
        (version,) = get(f"/api/v1/crawls/c/pages/{page['id']}/versions").json()["items"]
        assert version["extracted"] == data
        assert get(f"/api/v1/crawls/c/versions/{version['number']}").json()["extracted"] == data
        shown = get(f"/crawls/c/pages/{page['id']}").text
        assert "<dt>bad.&lt;b&gt;name</dt><dd>&lt;script&gt;alert(1)&lt;/script&gt;\ufffd</dd>" in shown
        assert "<dt>bad.nested</dt><dd>{&#34;a&#34;: [1, null]}</dd>" in shown


def test_crawls_made_over_http_have_no_extractors(shop: Path, tmp_path: Path) -> None:
    with running(tmp_path / "shelf", "--allow-private") as server:
        body = {"seeds": ["http://127.0.0.1:9/"], "name": "c", "settings": {"extractors": [f"{shop}:heading"]}}
        answer = server.http.post("/api/v1/crawls", json=body, headers={"x-sanderling": "1"})
        assert answer.status_code == 400 and "'extractors' cannot be set here" in answer.json()["detail"]
        assert not (tmp_path / "shelf" / "c").exists()


QUOTES = """
from dataclasses import dataclass
from sanderling import extractor

@dataclass
class Quote:
    text: str
    tags: int

@extractor(r"/$", r"/page/")
def quotes(page):
    for each in page.tree.select("q"):
        yield Quote(each.text, len(each.text))
    for link in page.tree.select("[data-next]"):
        yield page.follow(link.attr("data-next"))
    yield page.follow("/api", json={"from": 0})
    yield page.follow("http://elsewhere.example/")
    yield page.follow("/forbidden")

@extractor(r"/api#", key="id")
def answers(page):
    import json
    found = json.loads(page.text)
    yield from found["items"]
    if found["more"]:
        yield page.follow(page.url, json={"from": found["more"]})
"""


def answer(more: int, *ids: int) -> Answer:
    body = {"items": [{"id": each, "price": each * 10} for each in ids], "more": more}
    return Answer(json.dumps(body).encode(), "application/json")


@pytest.fixture
def quotes() -> Iterator[PageServer]:
    table = {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /forbidden", "text/plain"),
        "/": b"<title>Q</title><q>to be</q><a href=/unwanted>x</a><p data-next=/page/2>",
        "/page/2": b"<title>R</title><q>or not</q><p>to be",
        'POST /api {"from": 0}': answer(2, 1, 2),
        'POST /api {"from": 2}': answer(0, 2, 3),
    }
    with PageServer(table) as server:
        yield server


def test_extractors_follow_within_scope_and_robots(quotes: PageServer, sanderling: Run, tmp_path: Path) -> None:
    """From the library, with the functions themselves; a second crawl replays the first."""
    (tmp_path / "of_quotes.py").write_text(QUOTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        from of_quotes import answers  # type: ignore[import-not-found]
        from of_quotes import quotes as each_quote
    given = [answers, each_quote]
    folder = tmp_path / "crawl"
    with package.Crawl(folder, quotes.origin, extractors=given, follow_links=False, delay=0, clients=1) as crawl:
        pages = {page.url.removeprefix(quotes.origin): page.data for page in crawl}
    api = "/api#*application/json:%7B%22from%22%3A%20"
    assert pages == {
        "/": {"quotes": [{"text": "to be", "tags": 5}]},
        "/page/2": {"quotes": [{"text": "or not", "tags": 6}]},
        f"{api}0%7D": {"answers": [{"id": 1, "price": 10}, {"id": 2, "price": 20}]},
        f"{api}2%7D": {"answers": [{"id": 2, "price": 20}, {"id": 3, "price": 30}]},
    }
    sent = [each for each in quotes.asked if each.url.startswith("POST")]
    assert len(sent) == 2 and {each.headers["content-type"] for each in sent} == {"application/json"}
    assert quotes.requests["/forbidden"] == quotes.requests["/unwanted"] == 0
    why = {each["url"]: each["reason"] for each in sanderling("pages", folder, "--state", "excluded", "--json").lines}
    assert why.keys() == {"http://elsewhere.example/", f"{quotes.origin}/forbidden"}
