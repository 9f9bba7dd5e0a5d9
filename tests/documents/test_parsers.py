"""Both parsers make the same trees, and those that the HTML standard asks for.

`html5lib/*.dat` are cases of html5lib-tests (MIT licence, see the folder).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sanderling import open as opened_folder
from sanderling.change.page import current_processing
from sanderling.clock import DAY
from sanderling.documents.html import HtmlPage
from sanderling.documents.parser_choice import LEXBOR, TURBOHTML, choose, chosen
from sanderling.documents.tree import Document, Element, Namespace, Text, parse
from sanderling.documents.unreadable import UNREADABLE
from sanderling.testing import SyntheticWeb
from tests.conftest import FAST, Run
from tests.servers import PageServer

CASES = Path(__file__).parent / "html5lib"


class Case(NamedTuple):
    name: str
    markup: str
    tree: list[str]


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file that are whole pages, read without scripts."""
    for number, part in enumerate(re.split(r"(?:^|\n\n)#data\n", path.read_text())[1:]):
        markup, _, rest = part.partition("\n#errors\n")
        heads, _, tree = rest.partition("#document\n")
        if "#document-fragment" not in heads and "#script-on" not in heads:
            yield Case(f"{path.stem}-{number}", markup, expected(tree))


def expected(tree: str) -> list[str]:
    """The lines of a tree as `lines_of` writes them: without comments and doctypes; what a template
    contains is in it."""
    lines: list[str] = []
    contents: list[int] = []  # how far open ones are indented
    for line in re.findall(r"^\| .*(?:\n(?!\| ).*)*", tree.rstrip("\n"), re.MULTILINE):
        depth, said = len(line[2:]) - len(line[2:].lstrip(" ")), line[2:].lstrip(" ")
        contents = [each for each in contents if each < depth]
        if said == "content":
            contents.append(depth)
        elif not said.startswith(("<!--", "<!DOCTYPE", "<?")):
            name, equals, value = said.partition("=")
            if equals and said[0] not in '<"':
                said = re.sub("^(xlink|xml|xmlns) ", r"\1:", name).lower() + equals + value
            lines.append(" " * (depth - 2 * len(contents)) + said)
    return merged(lines)


def merged(lines: list[str]) -> list[str]:
    """Texts that only a comment divided are one."""
    found: list[str] = []
    for line in lines:
        pad = line[: len(line) - len(line.lstrip(" "))]
        if found and line.startswith(f'{pad}"') and found[-1].startswith(f'{pad}"'):
            found[-1] = found[-1][:-1] + line[len(pad) + 1 :]
        else:
            found.append(line)
    return found


def lines_of(document: Document) -> list[str]:
    lines: list[str] = []

    def add(element: Element, pad: str) -> None:
        space = {Namespace.HTML: "", Namespace.SVG: "svg ", Namespace.MATHML: "math "}[element.namespace]
        lines.append(f"{pad}<{space}{element.tag}>")
        said = ((name.lower(), element.attr(name) or "") for name in element.attrs)
        lines.extend(f'{pad}  {name}="{value}"' for name, value in sorted(said))
        for child in element.children:
            inside = [child] if isinstance(child, Element | Text) else getattr(child, "children", ())
            for each in inside:  # the first parser has what a template contains in a fragment
                if isinstance(each, Element):
                    add(each, pad + "  ")
                elif isinstance(each, Text):
                    lines.append(f'{pad}  "{each.data}"')

    if document.root is not None:
        add(document.root, "")
    return merged(lines)


# The standard has since let more stand in a select than these cases of 2020.
CHANGED = {"tests10-3", "tests10-4", "tests10-16", "tests10-17"}
# Elements with a name that no tree can be made of, and two of MathML that nobody uses.
UNLIKE = {"html5test-com-0", *(f"tests10-{number}" for number in range(41, 51))}


def wrong_cases(folder: Path, parser: str) -> set[str]:
    choose(parser)
    found = [case for path in sorted(folder.rglob("*.dat")) for case in cases(path)]
    return {case.name for case in found if lines_of(parse(case.markup)) != case.tree}


@pytest.fixture(autouse=True)
def usual_parser_afterwards() -> Iterator[None]:
    yield
    choose(TURBOHTML)


def test_cases_of_the_standard() -> None:
    assert sum(1 for path in CASES.glob("*.dat") for _ in cases(path)) > 250
    assert wrong_cases(CASES, TURBOHTML) == CHANGED
    assert wrong_cases(CASES, LEXBOR) == CHANGED | UNLIKE


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<!DOCTYPE html><title>Tides</title><a href=/a>a</a><base href=/b/><a href=c>c",
        b"<a href='?q=\xe4'>\xe4",
        "<meta charset=iso-8859-2><title>\u0159eka</title>".encode("iso-8859-2"),
        "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\u0440\u0435\u043a\u0430".encode("koi8-r"),
        b"<meta charset=utf-16>\xc3\xa4",
        b"<?xml version='1.0' encoding='windows-1251'?><p>\xf0\xe5\xea\xe0",
        b"<meta charset=nonsense>\xe4",
        "\ufeff\u00e4".encode(),
        "\ufeff<p>\u00e4<a href=x>".encode("utf-16-le"),
        b"<svg><title>no</title><a href=/s>s</a></svg><title>yes</title><template><a href=/t>t</a></template>x",
        b'<p 1=2 =x a\'b=3 on"x=4 \x00=5><b"c d>text</b>\x00\r\nline',
        b"<div>" * 700 + b"deep<a href=/d>",
        b"<noscript><a href=/n>n</a></noscript><textarea><a href=/no></textarea><plaintext><a href=/no>",
    ],
)
def test_links_text_and_title_are_the_same(page: bytes) -> None:
    found = []
    for parser in (TURBOHTML, LEXBOR):
        choose(parser)
        read = HtmlPage(page, None, "http://e.org/")
        found.append((read.hrefs(True), read.head(frozenset()), read.text(), read.title(), read.charset))
    assert found[0] == found[1]


def test_a_declared_charset_is_used_and_a_wrong_one_is_not() -> None:
    choose(LEXBOR)
    assert HtmlPage("ř".encode("iso-8859-2"), "iso-8859-2", "http://e.org/").text() == "ř"
    assert HtmlPage("ř".encode(), "nonsense", "http://e.org/").text() == "ř"
    assert HtmlPage("a\ud800b", None, "http://e.org/").text() == "a\ufffdb"


@pytest.mark.parametrize("page", [b"<div>" * 100_000, b"<p><b>" * 100_000, b"<span><i>" * 50_000])
def test_the_second_parser_is_given_no_page_that_takes_it_long(page: bytes) -> None:
    """100,000 elements in each other would take it ten seconds."""
    choose(LEXBOR)
    with pytest.raises(UNREADABLE):
        parse(page)


def test_long_pages_with_few_end_tags_are_read() -> None:
    choose(LEXBOR)
    rows = "<tr><td>cell <i>one</i><td><p>two<ul><li>three<li>four</ul>" * 20_000
    assert len(parse(f"<table>{rows}</table>").find_all("tr")) == 20_000


def test_fingerprints_by_different_parsers_are_not_compared() -> None:
    choose(LEXBOR)
    one = current_processing()
    choose(TURBOHTML)
    assert one != current_processing()


def test_a_crawl_by_the_second_parser(sanderling: Run, tmp_path: Path) -> None:
    """Its pages, its changes and what is read of it later are those of the first."""
    with SyntheticWeb(hosts=1, pages=30, seed=5).serve() as site:
        folders = [tmp_path / parser for parser in (TURBOHTML, LEXBOR)]
        for folder in folders:
            sanderling("crawl", site.url, "-d", folder, *FAST, "--html-parser", folder.name)
        site.clock.advance(5 * DAY)
        for folder in folders:
            sanderling("crawl", "-d", folder, "--again")
        found = []
        for folder in folders:
            with opened_folder(folder) as opened:
                assert chosen() == folder.name
                pages = {page.url: (page.title, page.text(), list(page.links)) for page in opened.pages()}
                changes = {(each.url, each.kind) for each in opened.changes()}
            found.append((pages, changes))
        assert len(found[0][0]) > 20 and found[0] == found[1]


def test_clients_parse_as_they_are_told(sanderling: Run, tmp_path: Path) -> None:
    """By a page that only the first parser reads."""
    with PageServer({"/": b"<title>Deep</title>" + b"<div>" * 20_001}) as site:
        for parser, title in ((TURBOHTML, "Deep"), (LEXBOR, "")):
            sanderling("crawl", site.origin + "/", "-d", tmp_path / parser, "--html-parser", parser)
            with opened_folder(tmp_path / parser) as opened:
                assert [page.title for page in opened.pages()] == [title]
