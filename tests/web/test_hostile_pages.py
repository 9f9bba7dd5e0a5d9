"""The title, text, address and headers of a crawled page are always shown as text in the
dashboard."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, Table
from tests.waiting import until
from tests.web.served import Served, running
from tests.web.test_pages import follow, tree

SCRIPT = "<script>alert(1)</script>"
BREAKOUT = "\"'><img src=x onerror=alert(1)></title></textarea></code>"
TITLES = [
    SCRIPT, BREAKOUT, "{{ 7 * 7 }} {% raw %} ${7*7}", "\u202egnp.exe\u2066 \x1b[31m \u200b", "&lt;b&gt; &amp;amp; &#x3C;i&#x3E;",
    "]]><script>alert(2)</script><!--", "a" * 5000, "javascript:alert(3)",
]  # fmt: skip
PATHS = [
    "/%22onmouseover=%22alert(1)",
    "/<script>alert(1)</script>",
    "/?q=%22%3E%3Cimg%20src=x%3E",
    "/a'b",
    "/%E2%80%AEgnp.exe",
]


def page(title: str, number: int) -> bytes:
    links = "".join(f'<a href="{quote(path, safe="/?=%&<>()")}">{SCRIPT}</a>' for path in [*PATHS, "/moved", "/evil"])
    shown = title.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<!doctype html><html lang="{BREAKOUT[:1]}x"><title>{shown}</title>{links}'
        f'<a href="javascript:alert(1)">x</a><a href="data:text/html,x">y</a><a href="//evil.example/">z</a>'
        f"<p>zebra {shown} number {number}</p><p>&lt;/mark&gt;&lt;script&gt;alert(4)&lt;/script&gt; zebra {number}</p>"
        + "".join(f'<a href="/t{at}">{at}</a>' for at in range(len(TITLES)))
    ).encode("utf-8", "surrogatepass")


def hostile() -> Table:
    table: dict[str, object] = {"/": lambda asked: page(SCRIPT, asked)}
    for at, title in enumerate(TITLES):
        table[f"/t{at}"] = lambda asked, title=title: page(title, asked)
    for path in PATHS:
        encoded = quote(path, safe="/?=%&()'")
        table[encoded] = table[path] = lambda asked: page(BREAKOUT, asked)
    table["/moved"] = Answer(status=302, headers=(("Location", "javascript:alert(5)"),))
    table["/evil"] = Answer(page(BREAKOUT, 1), type=f"text/html; charset={SCRIPT}", headers=(("ETag", SCRIPT),))
    table["/robots.txt"] = Answer(f"User-agent: *\n# {SCRIPT}\nDisallow: /{SCRIPT}\nAllow: /\n".encode(), "text/plain")
    return table  # type: ignore[return-value]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("hostile")
    with PageServer(hostile()) as site:
        assert sanderling("crawl", site.origin, "-d", home / "bad", "--user-agent", SCRIPT, *FAST).code == 0
        assert sanderling("crawl", "-d", home / "bad", "--again", *FAST).code == 0
    with running(home) as served:
        yield served


def test_nothing_of_it_becomes_markup(server: Served) -> None:
    kinds = follow(server, "/crawls/bad", most=25)
    assert kinds["/crawls/bad/pages/ID/diff"] > 5
    listed = tree(server, "/crawls/bad/pages")
    assert SCRIPT in listed.text and BREAKOUT in listed.text and "{{ 7 * 7 }}" in listed.text
    assert "\u202e" not in listed.text and "\x1b" not in listed.text


def test_nothing_that_is_found_either(server: Served) -> None:
    until(lambda: "being indexed" not in tree(server, "/crawls/bad/search?q=zebra").text)
    found = tree(server, "/crawls/bad/search?q=zebra")
    assert "<script>alert(4)" in found.text and list(found.find_all("mark"))
    follow(server, "/crawls/bad/search?q=zebra", most=3)


def test_what_is_asked_stays_text_too(server: Served) -> None:
    for path in (
        "/crawls/bad/search?q=", "/crawls/bad/pages?prefix=", "/crawls/bad/pages?state=", "/crawls/bad/pages?host=",
        "/crawls/bad/changes?since=", "/crawls/bad/changes?kind=", "/crawls/bad/changes?host=", "/crawls/bad/hosts?host=",
        "/crawls/bad/search?changed=", "/crawls/bad/live?was=",
    ):  # fmt: skip
        for text in (SCRIPT, BREAKOUT, "javascript:alert(1)", "\x00", "\u202e"):
            answer = server.http.get(path + quote(text), headers={"accept": "text/html"})
            assert answer.status_code in (200, 400, 404, 422), path
            assert "<script>alert" not in answer.text and "<img src=x" not in answer.text, path
    for path in (f"/crawls/{SCRIPT}", f"/crawls/bad/pages/{SCRIPT}", f"/{BREAKOUT}"):
        answer = server.http.get(quote(path), headers={"accept": "text/html"})
        assert answer.status_code == 404 and "<script>alert" not in answer.text and "<img src=x" not in answer.text
    login = server.http.get("/login", params={"next": BREAKOUT}).text
    assert "<img src=x" not in login
