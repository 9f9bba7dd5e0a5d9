"""Every page of the dashboard, found by following links, and checked like a browser and a screen
reader do."""

import asyncio
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
import turbohtml

from sanderling.repository import views
from sanderling.repository.folder import Folder, hold
from sanderling.testing import DAY, SyntheticWeb
from sanderling.web.app import create_app
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, Table
from tests.waiting import until
from tests.web.served import Served, running

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Path:
    """A directory with one crawl whose pages have changed, `history`, in it."""
    home = tmp_path_factory.mktemp("pages")
    with SyntheticWeb(pages=30, seed=7, change_rate=0.5).serve() as site:
        assert sanderling("crawl", site.url, "-d", home / "history", *FAST).code == 0
        for _ in range(2):
            site.clock.advance(3 * DAY)
            assert sanderling("crawl", "-d", home / "history", "--again", *FAST).code == 0
    return home


@pytest.fixture(scope="module")
def server(history: Path) -> Iterator[Served]:
    with running(history) as served:
        yield served


def tree(server: Served, path: str, status: int = 200) -> turbohtml.Document:
    answer = server.http.get(path, headers=PAGE)
    assert answer.status_code == status, f"{path}: {answer.status_code}\n{answer.text[-2000:]}"
    assert answer.headers["content-type"] == "text/html; charset=utf-8", path
    return turbohtml.parse(answer.text)


def attribute(element: turbohtml.Element, name: str) -> str:
    value = element.attr(name)
    return value if isinstance(value, str) else ""


def classes(element: turbohtml.Element) -> list[str]:
    value = element.attr("class")
    return value.split() if isinstance(value, str) else list(value or ())


def check(document: turbohtml.Document, path: str) -> None:
    """Checks that apply to every page."""
    everything = list(document.find_all())
    ids = [attribute(each, "id") for each in everything if each.attr("id")]
    assert len(ids) == len(set(ids)), f"{path}: an id twice"
    for each in everything:
        names = set(each.attrs)
        assert "style" not in names and not any(name.startswith("on") for name in names), f"{path}: {each.tag}"
        assert each.tag != "style", path
        if each.tag == "script":
            assert attribute(each, "src").startswith("/static/") and not each.text.strip(), path
        if each.tag in ("input", "select", "textarea") and attribute(each, "type") != "hidden":
            labels = [label for label in document.find_all("label") if attribute(label, "for") == attribute(each, "id")]
            assert labels and labels[0].text.strip(), f"{path}: {attribute(each, 'name')} has no label"
        if each.tag == "th":
            assert attribute(each, "scope") in ("col", "row"), path
        if each.tag == "form" and attribute(each, "method").lower() == "post":
            hidden = {attribute(field, "name") for field in each.find_all("input")}
            assert "form_token" in hidden, f"{path}: a form without its token"
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(attribute(each, name).split()) <= set(ids), f"{path}: {name}={attribute(each, name)}"
        if each.tag == "a":
            scheme = urlsplit(attribute(each, "href")).scheme
            assert scheme in ("", "http", "https"), f"{path}: {attribute(each, 'href')}"
            assert each.text.strip() or each.attr("aria-label"), f"{path}: a link without words"
    assert len(list(document.find_all("h1"))) == 1, path
    assert len(list(document.find_all("main"))) == 1, path
    html = document.find("html")
    assert html is not None and attribute(html, "lang") == "en", path
    title = document.find("title")
    assert title is not None and len(title.text) > len("Sanderling"), path


def follow(server: Served, start: str, most: int = 12) -> Counter[str]:
    """Checks every page that can be reached from one, with a limit for each kind. Returns how many
    of each kind."""
    ahead, seen, kinds = [start], {start}, Counter[str]()
    while ahead:
        path = ahead.pop(0)
        parts = urlsplit(path).path.split("/")
        kind = "/".join(part if len(part) != 16 else "ID" for part in parts)
        if kinds[kind] >= most:
            continue
        kinds[kind] += 1
        if kind.endswith(".atom") or "/export/" in kind:
            assert server.http.get(path).status_code == 200, path
            continue
        document = tree(server, path)
        check(document, path)
        for link in document.find_all("a"):
            target = urljoin(server.url + path, attribute(link, "href")).partition("#")[0]
            inside = target.removeprefix(server.url)
            if target.startswith(server.url + "/") and inside not in seen:
                seen.add(inside)
                ahead.append(inside)
    return kinds


def test_every_link_of_every_page_leads_somewhere(server: Served) -> None:
    kinds = follow(server, "/")
    home = "/crawls/history"
    assert kinds.keys() >= {
        "/", home, f"{home}/pages", f"{home}/changes", f"{home}/search", f"{home}/freshness", f"{home}/hosts", f"{home}/forms",
        f"{home}/pages/ID", f"{home}/pages/ID/diff", f"{home}/pages/ID/paragraphs", f"{home}/pages/ID/links",
    }  # fmt: skip


def test_sanderling_crawls_its_own_dashboard(server: Served, sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", server.url + "/", "-d", tmp_path / "self", "--max-pages", "150", "--json", *FAST)
    assert ran.code == 0, ran.err
    assert ran.json["pages"] == 150 and ran.json["failed"] == ran.json["gone"] == 0
    titles = {row["title"] for row in sanderling("pages", tmp_path / "self", "--json").lines}
    assert {"News · Sanderling", "Changes · history · Sanderling", "Hosts · history · Sanderling"} <= titles


def test_logging_in_and_out(history: Path) -> None:
    with running(history, "--token", "low-water-at-seven-in-the-morning") as locked:
        assert locked.http.get("/crawls/history", headers=PAGE).headers["location"] == "/login?next=/crawls/history"
        asked = locked.http.get("/crawls/history/search?q=low+water", headers=PAGE)
        assert asked.headers["location"] == "/login?next=/crawls/history/search%3Fq%3Dlow%2Bwater"
        page = tree(locked, "/login?next=/crawls/history")
        check(page, "/login")
        token = next(attribute(each, "value") for each in page.find_all("input") if each.attr("name") == "form_token")
        typed = {"form_token": token, "secret": "high-water", "next": "/crawls/history"}
        wrong = turbohtml.parse(locked.http.post("/login", data=typed).text)
        check(wrong, "/login")
        assert any(attribute(each, "role") == "alert" for each in wrong.find_all())
        entered = locked.http.post("/login", data={**typed, "secret": "low-water-at-seven-in-the-morning"})
        assert entered.headers["location"] == "/crawls/history"
        inside = tree(locked, "/crawls/history")
        check(inside, "/crawls/history")
        assert any(attribute(each, "action") == "/logout" for each in inside.find_all("form"))


def test_what_a_page_is_drawn_with_is_served(server: Served) -> None:
    document = tree(server, "/")
    links = [attribute(each, "href") for each in document.find_all("link")]
    for path in [*links, *(attribute(each, "src") for each in document.find_all("script"))]:
        assert server.http.get(path).status_code == 200, path


def test_unknown_things_are_said_helpfully(server: Served) -> None:
    for path, crawl in (
        ("/nothing", False),
        ("/crawls/nobody", False),
        ("/crawls/nobody/pages", False),
        ("/crawls/history/nothing", True),
        ("/crawls/history/pages/0123456789abcdef", True),
        ("/crawls/history/pages/0123456789abcdef/diff", True),
        ("/crawls/history/pages/%2e%2e", True),
        ("/crawls/history/pages/xyz", True),
    ):
        document = tree(server, path, 404)
        check(document, path)
        targets = {attribute(each, "href") for each in document.find_all("a")}
        assert "/" in targets and ("/crawls/history" in targets) == crawl, path
    assert tree(server, "/crawls/history/pages?after=x", 422).find("h1") is not None


def test_filters_keep_what_was_asked(server: Served) -> None:
    gone = tree(server, "/crawls/history/pages?state=gone&prefix=http")
    assert attribute(one(gone, "prefix"), "value") == "http"
    assert {each.text for each in gone.find_all("span") if "pill" in classes(each)} <= {"gone"}
    wrong = tree(server, "/crawls/history/changes?since=never&kind=text")
    assert attribute(one(wrong, "since"), "aria-invalid") == "true"
    assert "never" in attribute(one(wrong, "since"), "value")
    assert "No page matches" in tree(server, "/crawls/history/pages?prefix=zzz").text
    assert "No change matches" in tree(server, "/crawls/history/changes?since=2090-01-01").text


def test_a_host_is_found_by_its_bare_name(server: Served) -> None:
    origin = tree(server, "/crawls/history/hosts").find("h2")
    assert origin is not None and origin.text.startswith("http://")
    bare = origin.text.removeprefix("http://")
    assert "Its pages" in tree(server, f"/crawls/history/hosts?host={bare}").text
    assert "fetched" in tree(server, f"/crawls/history/pages?host={bare}").text
    assert "Not a host of this crawl" in tree(server, "/crawls/history/hosts?host=example.org").text
    wrong = tree(server, "/crawls/history/hosts?host=:::")
    check(wrong, "hosts")
    assert attribute(one(wrong, "host"), "aria-invalid") == "true"


def test_what_only_leads_elsewhere(sanderling: Run, tmp_path: Path) -> None:
    table: Table = {
        "/": b'<title>Here</title><a href="/old">old</a>',
        "/old": Answer(status=301, headers=(("Location", "/new"),)),
        "/new": b"<title>There</title> at last",
    }
    with PageServer(table) as site:
        for more in ((site.origin,), ("--again",)):
            assert sanderling("crawl", *more, "-d", tmp_path / "led", *FAST).code == 0
    with running(tmp_path) as server:
        listed = tree(server, "/crawls/led/pages").find_all("a")
        old = next(attribute(each, "href") for each in listed if each.text.endswith("/old"))
        page = tree(server, old)
        assert "2 visits found 0 changes" in page.text
        (led,) = [each for each in page.find_all("dd") if each.text.endswith("/new")][:1]
        there = next(attribute(each, "href") for each in led.find_all("a"))
        assert "There" in tree(server, there).text


def test_a_difference_is_shown_in_two_ways(server: Served) -> None:
    changes = tree(server, "/crawls/history/changes?kind=text")
    first = next(
        attribute(each, "href") for each in changes.find_all("a") if "/diff?to=" in attribute(each, "href")
    ).partition("?")[0]
    side, inline = tree(server, first), tree(server, first + "?view=inline")
    assert list(side.find_all("ins")) or side.find_all("tr")
    assert any("diff" in classes(each) for each in side.find_all("table"))
    assert any("lines" in classes(each) for each in inline.find_all("ul"))
    whole = tree(server, first + "?all=1")
    assert len(list(whole.find_all("tr"))) > len(list(side.find_all("tr")))
    assert tree(server, first + "?a=99&b=-1").find("h1") is not None
    assert "Version 1 to version 2" in tree(server, first + "?a=2&b=1").text
    assert (
        "0 paragraphs differ" in tree(server, first + "?a=2&b=2").text
    )  # the summary of version 2 does not apply to this


def test_a_rare_thing_is_looked_for_part_by_part(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf([history])
    app = create_app(shelf, Security(port=80))

    async def look() -> list[str]:
        """The text of each part of the list, up to the one that has the page."""
        said, path = [], "/crawls/history/pages"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            every = turbohtml.parse((await client.get(path)).text)
            last = [each.text for each in every.find_all("span") if "url" in classes(each)][-1]
            path += f"?prefix={last}"
            monkeypatch.setattr(views, "STRETCH", 4)
            while path and len(said) < 50:
                document = turbohtml.parse((await client.get(path)).text)
                (found,) = [each for each in document.find_all() if attribute(each, "id") == "found"]
                said.append(found.text)
                path = attribute(found, "hx-get")
        return said

    *before, end = asyncio.run(look())
    shelf.close_idle(0)
    assert before and all("Nothing among the first" in each for each in before)
    assert "fetched" in end


def test_search_finds_and_marks(server: Served, history: Path) -> None:
    word = one_word(server)
    until(lambda: "being indexed" not in tree(server, f"/crawls/history/search?q={word}").text)
    found = tree(server, f"/crawls/history/search?q={word}")
    check(found, "search")
    assert word in {each.text.lower() for each in found.find_all("mark")}
    (narrower,) = [each for each in found.find_all("a") if attribute(each, "id") == "narrower"]
    within = tree(server, f"/crawls/history/search{attribute(narrower, 'href')}")
    check(within, "search within")
    assert [attribute(each, "value") for each in within.find_all("input") if attribute(each, "name") == "within"] == [
        word
    ]
    (wider,) = [each for each in within.find_all("a") if attribute(each, "id") == "wider-1"]
    assert attribute(wider, "href") == "?"
    assert "Nothing found" in tree(server, f"/crawls/history/search?q={word}&within=xyzzyplugh").text
    assert "Nothing found" in tree(server, f"/crawls/history/search?q={word}&at=2001-02&until=2001-03").text
    assert "name the earlier time first" in tree(server, "/crawls/history/search?q=x&at=2001-02&until=2000-03").text
    assert (
        "at most 10 earlier"
        in tree(server, "/crawls/history/search?q=x" + "".join(f"&within={n}" for n in range(11))).text
    )
    assert "Nothing found" in tree(server, "/crawls/history/search?q=xyzzyplugh").text
    assert "there are no words to search for in '('" in tree(server, "/crawls/history/search?q=(").text
    for odd in (
        "%22",
        "((((",
        "a%3A%3Ab",
        "%00",
        "%F0%9F%90%A6",
        "*",
        "-",
        "x&page=-1",
        "x&page=99999",
        "x&changed=soon",
        "x&within=%22%3Cb%3E",
        "&within=(",
    ):
        check(tree(server, f"/crawls/history/search?q={odd}"), odd)


def one_word(server: Served) -> str:
    """A word on a page."""
    changes = tree(server, "/crawls/history/changes")
    title = next(each for each in changes.find_all("p") if "title" in classes(each))
    return title.text.split()[0].lower()


def test_a_feed_of_what_changed(server: Served) -> None:
    (link,) = [
        each
        for each in tree(server, "/crawls/history/changes?kind=text").find_all("link")
        if each.attr("type") == "application/atom+xml"
    ]
    feed = server.http.get(attribute(link, "href"))
    assert feed.status_code == 200 and feed.headers["content-type"].startswith("application/atom+xml")
    entries = xml.fromstring(feed.text).findall("{http://www.w3.org/2005/Atom}entry")
    assert entries and all("text" in (each.findtext("{http://www.w3.org/2005/Atom}title") or "") for each in entries)


def test_freshness_is_drawn(server: Served, history: Path) -> None:
    until(lambda: "Load again" not in tree(server, "/crawls/history/freshness").text)
    shown = tree(server, "/crawls/history/freshness")
    check(shown, "freshness")
    drawings = [each for each in shown.find_all("svg") if "plot" in classes(each)]
    assert len(drawings) == 3 and all(attribute(each, "aria-label") for each in drawings)
    assert list(shown.find_all("polyline")) and list(shown.find_all("rect"))
    page = next(
        attribute(each, "href")
        for each in tree(server, "/crawls/history/changes?kind=text").find_all("a")
        if "/diff?to=" in attribute(each, "href")
    )
    assert "expected to change about every" in tree(server, page.partition("/diff")[0]).text
    assert [each.text for each in shown.find_all("button")].count("Refresh") == 1
    with hold(Folder(history / "history")):
        at_work = tree(server, "/crawls/history/freshness")
    assert "The crawl is running" in at_work.text
    assert "Refresh" not in [each.text for each in at_work.find_all("button")]
    (history / "history" / "sanderling.db").touch()  # as a run does
    assert "being computed" in tree(server, "/crawls/history/freshness").text


def test_what_renews_itself(server: Served) -> None:
    whole = tree(server, "/crawls/history")
    (live,) = [each for each in whole.find_all() if attribute(each, "id") == "live"]
    address = attribute(live, "hx-get")
    same, other = server.http.get(address).text, server.http.get(address.replace("finished", "running")).text
    assert 'id="live"' in same and "announced" not in same
    assert 'id="announced"' in other and 'id="controls"' in other and "The crawl is finished" in other


def one(document: turbohtml.Document, id: str) -> turbohtml.Element:
    (found,) = [each for each in document.find_all() if attribute(each, "id") == id]
    return found
