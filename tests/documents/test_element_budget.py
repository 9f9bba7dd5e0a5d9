"""Pages that stand for more elements than memory holds are not parsed."""

import random
import resource
from html import escape
from pathlib import Path

import pytest

from sanderling.browser.deciding import extent
from sanderling.documents import native
from sanderling.documents.element_budget import TooManyElements, check_elements
from sanderling.documents.extracting import read_page
from sanderling.documents.html import HtmlPage
from sanderling.documents.requisites import of_page
from sanderling.documents.rewriting import Targets, rewritten_page
from sanderling.repository.archive import document_in, text_of
from sanderling.repository.warc import Archived
from sanderling.search.fulltext import full_text
from tests.conftest import Run
from tests.servers import PageServer

OPENED = "".join(f"<b a{n}>" for n in range(600))


def bomb(between: str = "", paragraphs: int = 25_000) -> bytes:
    return f"<p>{OPENED}{between}</p>{'<p>x' * paragraphs}".encode()


def test_a_bomb_is_refused_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooManyElements):
        HtmlPage(bomb(), None, "http://site.example/")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # it took 2 GiB


@pytest.mark.parametrize(
    "between",
    [
        "<object>" + "</b>" * 600 + "</object>",
        "<!--" + "</b>" * 600 + "-->",
        "<p title='" + "</b>" * 600 + "'>",
        '<p title=">' + "</b>" * 600 + '">',
        "<p a='\">' b=\"x>" + "</b>" * 600 + '">',
        "<p " + "</b " * 600 + ">",
        "<table><td><table></td>" + "</b>" * 600 + "</table></table>",
        "<script>" + "</b>" * 600 + "</script>",
        "<svg><foreignObject>" + "</b>" * 600 + "</svg>",
        "<select>" + "</b>" * 600 + "</select>",
        "</i>" * 600,
        "</b\0>" * 600,
        "</b\v>" * 600,
        "<b t='>x</b>" * 600,
        "\x1b$B" + "</b>" * 600 + "\x1b(B",
    ],
)
def test_end_tags_that_end_nothing_do_not_hide_a_bomb(between: str) -> None:
    with pytest.raises(TooManyElements):
        check_elements(bomb(between, 3_000))


@pytest.mark.parametrize("opened", ["<b <x{}>", "<b t='<{}'>", '="<b a{}>', "<b a{}<i>"])
def test_tags_in_tags_do_not_hide_a_bomb(opened: str) -> None:
    with pytest.raises(TooManyElements):
        check_elements(f"<p>{''.join(map(opened.format, range(600)))}{'<p>x' * 6_000}".encode())


def test_the_native_reader_leaves_bombs_to_the_tree() -> None:
    if native.extension is None:
        pytest.skip("no native reader")
    chance, refused, read = random.Random(1), 0, 0
    pieces = (
        "<b>|</b>|<i id={}>|</i>|<b>x</b>|<p>x|</p>|<td>|text|<b <|='|=\"<b>|<!--|-->|<code>|</code>|<tt/>|</ |<dfn>|\1"
    )
    for _ in range(60):
        chosen = chance.sample(pieces.split("|"), chance.randint(2, 8))
        page = "".join(chance.choice(chosen).format(n) for n in range(chance.choice((1_500, 4_000)))).encode()
        is_read = native.extension.read(page, 0) != "many elements"
        try:
            check_elements(page)
        except TooManyElements:
            assert not is_read, page
            refused += 1
        read += is_read
    assert refused > 5 and read > 5


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-16-be", "utf-32"])
def test_a_bomb_is_seen_in_every_charset(charset: str) -> None:
    with pytest.raises(TooManyElements):
        check_elements(("中" * 1000 + bomb().decode().upper()).encode(charset))


def test_long_pages_with_much_formatting_are_read() -> None:
    cells = "".join(f'<tr><td><code id="c{n}">f{n}</code><td><i class="icon-{n}"></i> <b>x</b>' for n in range(20_000))
    page = HtmlPage(f"<title>T</title><table>{cells}</table>".encode(), None, "http://site.example/")
    assert page.title() == "T"
    assert len(page.document.find_all("code")) == 20_000


def test_formatting_in_formatting_is_read() -> None:
    item = '<li><i id="{0}"><a href="/{0}"><b>n</b></a></i> <em title=\'{0}\'>x<br></em>'
    check_elements("".join(map(item.format, range(10_000))).encode())
    check_elements("".join(map(item.format, range(10_000))).encode("utf-16"))


def test_everything_that_reads_pages_takes_a_bomb_as_unreadable() -> None:
    url, body, headers = "http://site.example/", bomb(), [("Content-Type", "text/html")]
    archived = Archived(url=url, at="", status=200, headers=headers, body=body)
    assert document_in(archived) is None
    assert text_of(archived) == ""
    assert full_text(url, body, headers, None).text == ""
    assert read_page(url, 200, headers, body).tree is None
    assert extent(body, None, url).links == 0


def test_a_bomb_in_a_frame_is_left_out_of_its_page() -> None:
    url, frame = "http://site.example/", escape(bomb().decode(), quote=True)
    page = HtmlPage(f'<img src=/a.png><iframe srcdoc="{frame}"></iframe>', None, url)
    assert of_page(page) == ["/a.png"]
    assert 'srcdoc=""' in rewritten_page(page, Targets(lambda target: target, lambda file: file))


def test_a_crawl_says_its_words_about_a_seed_that_is_a_bomb(sanderling: Run, tmp_path: Path) -> None:
    """What looks at pages when a crawl ends, or later, meets bombs too."""
    with PageServer({"/": bomb()}) as site:
        done = sanderling("crawl", site.origin + "/", "-d", tmp_path / "crawl", "--render", "never")
        assert done.code == 0 and "1 page " in done.out
        assert sanderling("broken", tmp_path / "crawl").code == 0


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_page_for_which_memory_is_short_is_unreadable(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(body: bytes) -> None:
        raise error

    monkeypatch.setattr("sanderling.documents.tree.check_elements", fail)
    archived = Archived(
        url="http://a.example/", at="", status=200, headers=[("Content-Type", "text/html")], body=b"<p>x"
    )
    assert document_in(archived) is None
    assert text_of(archived) == ""
    assert full_text("http://a.example/", b"<p>x", archived.headers, None).text == ""
