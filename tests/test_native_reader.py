"""The native reader says the same of a page as the tree does, to the bit, or gives the page up."""

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html import entities
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import hatch_build
from sanderling.client.contents import ContentReader
from sanderling.client.lines import numbers_of
from sanderling.client.sketch import sketch
from sanderling.documents import flat, native
from sanderling.documents.flat import read_flat
from sanderling.settings import Settings
from sanderling.testing import SyntheticWeb
from tests.both_readers import URL, compared


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Built from the sources as they are now."""
    made = tmp_path_factory.mktemp("native") / hatch_build.NAME
    built, why = hatch_build.compile_reader(made, ("-Wall", "-Wextra", "-Werror"))
    if not built:
        assert "error:" not in why or "Python.h" in why, why
        pytest.skip(f"no native reader: {why}")
    spec = spec_from_file_location("_reader", made, loader=ExtensionFileLoader("_reader", str(made)))
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if "extension" in request.fixturenames:
        monkeypatch.setattr(native, "extension", request.getfixturevalue("extension"))
    yield


READ = [
    "",
    "just text",
    "<title> a &amp;  b </title>one<p>two",
    "<!doctype html><html lang=de><head><meta charset=utf-8><link rel=next href=n></head><body>ä</body></html>",
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><p>é',
    "<ul><li>one<li>two <b>bold</b><ul><li>deep</ul></ul>after",
    "<dl><dt>a<dd>b<dt>c<dd>d</dl>",
    "<table><caption>c</caption><tr><td>1<td><b>2<tr><th>3</table>after",
    "<table><colgroup><col><col></colgroup><thead><tr><th>x</thead><tbody><tr><td>y</table>",
    "<table><tr><td><table><tr><td>in</table></td></tr></table>",
    "<pre>\n a\n  b\n\n</pre>x<pre>&lt;tag&gt;\n</pre>",
    "<blockquote><p>one</p><blockquote>two<br>three</blockquote></blockquote>four<blockquote></blockquote> five",
    "<p>a &lt; b &amp&copy; &copycat AT&T ?a=1&b=2 &#8212; &#x20ac;",
    "<a href='x?a=1&amp;b=2&copy=3&lt=4#f' rel='x NoFollow'>one <i>two</i></a><a href=y>three</a><a>four</a>",
    "<area href=a><iframe src=b></iframe><base href='/c/'><meta name=robots content='noindex, nofollow'>",
    "<p>a<svg viewBox='0 0 1 1'><g><path d='M0'/></g> <circle r=1></circle></svg> b",
    "<form><select><option>a<option selected>b</select><button>c</button><textarea>d &amp; e</textarea></form>",
    "<meta charset=utf-8><body>a<script>if (a < b) document.write('<p>')</script><style>p > a {}</style> b<noscript>c</noscript>",
    "one<!-- two --> <!----> three</p>four</div>five</body> six</html> seven",
    "<link rel='x NEXT' href=n><link rel='Shortcut icon' href=i><link rel=Alternate href=a><link rel='can&#111;nical' href=c>",
    "<h1>a<h2>b</h2>c</h1><custom-tag>d</custom-tag><section>e</section>",
    "<p>a\r\nb\rc<pre>\r\nd\r\ne</pre><a href='x\r\ny'>z</a>",
    "<a href=x><!doctype y>one<!----><!-- > -->two</b=\">three</a>",
    "<a href=x>one<pre>\ntwo\nthree</pre></a>",
    "<DIV CLASS=x>Upper<P>Case</P></DIV><IMG SRC=x><Br/>y",
]  # fmt: skip

GIVEN_UP = [
    "<b><p>one</b>two",
    "<p><b>one</p>two",
    "<a href=x>one<a href=y>two",
    "<table>text<tr><td>x</table>",
    "<table><tr><td>x</td></tr><p>y</table>",
    "<svg><foreignObject><p>x</p></foreignObject></svg>",
    "<math><mi>x</mi></math>",
    "<template><p>x</template>",
    "<frameset><frame src=x></frameset>",
    "<p>one<table><tr><td>x</table>",  # without a doctype
    "<script><!-- <script> --></script>",
    "<p>\0</p>",
    "<p>&nosuchthing;",
    "<p attribute",
    "<!-- never ended",
    "<title>never ended",
    "<meta http-equiv=refresh content='0; url=x'>",
    "<object><p>x</object>",
    "<a href=x><datalist>&#",
    "<div>" * 300,
    "<blockquote>" * 20,
]


@pytest.mark.parametrize("page", READ)
def test_a_simple_page_is_read_as_by_the_tree(extension: ModuleType, page: str) -> None:
    assert [compared(page.encode(), charset) for charset in (None, "utf-8")] == ["", ""]
    assert compared(page.encode(), "utf-8", follow_nofollow=True) == ""


def test_what_libfuzzer_kept_is_read_as_by_the_tree_or_given_up(extension: ModuleType) -> None:
    """Small inputs that reach different code, from `python -m bench reader --fuzz`."""
    kept: list[str] = json.loads(Path(__file__).with_name("native_corpus.json").read_text())
    whys = Counter(compared(page.encode("latin-1"), charset) for page in kept for charset in (None, "utf-8"))
    assert whys[""] > 90 and len(whys) > 15, whys


def test_halves_of_a_letter_do_not_meet(extension: ModuleType) -> None:
    for letter in ("é", "—", "😀"):
        whole = letter.encode()
        assert compared(whole[:-1] + b"<x>" + whole[-1:], "utf-8") == "not UTF-8"
    odd = (
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf0\x80\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xf5",
        b"\x80",
        b"\xc2",
    )
    assert {compared(b"<p>12345678" + each, "utf-8") for each in odd} == {"not UTF-8"}
    assert compared("<p>12345678é߿ࠀ퟿\ufffd😀\U0010ffff".encode(), "utf-8") == ""


@pytest.mark.parametrize("page", GIVEN_UP)
def test_a_page_whose_elements_move_is_given_up(extension: ModuleType, page: str) -> None:
    assert compared(page.encode(), "utf-8")


def test_who_chooses_another_parser_gets_its_trees(extension: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat, "chosen", lambda: "lexbor")
    assert read_flat(b"<p>x", "utf-8", URL) == "Python reader"


def test_charsets_are_those_of_the_tree(extension: ModuleType) -> None:
    labels = ("utf-8", "UTF8", "iso-8859-1", "windows-1252", "us-ascii", "koi8-r", "utf-16", "nonsense", "")
    pages = [f"<head>{meta}</head><p>{text}" for text in ("plain", "ä → ö", "caf\xe9") for meta in (
        "", *(f"<meta charset='{label}'>" for label in labels),
        *(f"<meta http-equiv=Content-Type content='text/html; charset={label}'>" for label in labels[:5]),
        "<meta charset=utf-8><meta charset=latin1>", "<script>'<meta charset=latin1>'</script><meta charset=utf-8>",
        f"<!-- {'x' * 1000} --><meta charset=utf-8>", f"<!-- {'x' * 980} --><meta charset=utf-8>",
    )]  # fmt: skip
    whys = Counter(
        compared(page.encode(written, "replace"), charset)
        for page in pages
        for written in ("utf-8", "latin-1")
        for charset in (None, "utf-8", "ISO-8859-1", "koi8-r")
    )
    assert whys[""] > sum(whys.values()) / 3, whys
    marked = b"\xef\xbb\xbf<p>x"
    assert compared(marked, None) == compared(marked, "utf-8") == "byte-order mark"


_TAGS = [
    "a",
    "b",
    "i",
    "code",
    "em",
    "span",
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "table",
    "tr",
    "td",
    "th",
    "tbody",
    "caption",
    "colgroup",
    "col",
    "pre",
    "blockquote",
    "br",
    "hr",
    "img",
    "form",
    "button",
    "select",
    "option",
    "input",
    "textarea",
    "script",
    "style",
    "title",
    "noscript",
    "link",
    "meta",
    "base",
    "area",
    "iframe",
    "section",
    "center",
    "svg",
    "path",
    "fieldset",
    "label",
    "unknown",
    "dir",
]
_WORDS = ["x", "word ", "  two words ", "\n", "\n\n  ", "&amp;", "&nbsp;", "&copy", "&#8203;", "& ", "é", "<", " 1 < 2"]
_SAID = ["", "", ' href="x"', " href=y#z", ' href=""', " rel=nofollow href=n", ' rel="next" href=k', " charset=utf-8",
         " name=robots content=noindex", ' href="a?b=1&amp;c=2&copy=3"', " src=s", " /", " href", ' title="a > b"']  # fmt: skip


def random_page(chance: random.Random) -> bytes:
    """Some tags that know little of each other, most of them closed."""
    start = "<!DOCTYPE html><html><head><title>t</title></head><body>" if chance.random() < 0.8 else ""
    few, opened, parts = chance.sample(_TAGS, chance.randint(3, 9)), [], [start]
    for _ in range(chance.randint(3, 40)):
        which = chance.random()
        if which < 0.4:
            parts.append(chance.choice(_WORDS))
        elif which < 0.7:
            opened.append(chance.choice(few))
            parts.append(f"<{opened[-1]}{chance.choice(_SAID)}>")
        elif which < 0.95 and opened:
            parts.append(f"</{opened.pop()}>")
        else:
            parts.append(f"</{chance.choice(few)}>" if which < 0.97 else "<!-- c -->")
    return "".join([*parts, *(f"</{tag}>" for tag in reversed(opened))]).encode()


def test_random_pages_are_read_as_by_the_tree_or_given_up(extension: ModuleType) -> None:
    whys = Counter(compared(random_page(random.Random(seed)), "utf-8", bool(seed % 2)) for seed in range(3000))
    assert whys[""] > 1000, whys


def test_mutated_pages_are_read_as_by_the_tree_or_given_up(extension: ModuleType) -> None:
    web = SyntheticWeb(hosts=1, pages=20)
    pages = [web.body(url, 0.0) for url in sorted(web.reachable(0.0))][:12]
    assert [compared(page, "utf-8") for page in pages] == [""] * len(pages)
    chance = random.Random(1)
    for _ in range(600):
        page = bytearray(chance.choice(pages))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(page))
            how = chance.random()
            if how < 0.5:
                page[at : at + chance.randint(1, 12)] = b""
            elif how < 0.8:
                page[at:at] = chance.choice([b"<", b">", b"&", b'"', b"</p>", b"<b>", b"<td>", b"\n", b"\xff", b"<!--"])
            else:
                other = chance.choice(pages)
                page[at:at] = other[chance.randrange(len(other)) :][: chance.randint(1, 200)]
        compared(bytes(page), chance.choice([None, "utf-8"]))


def test_a_page_cannot_make_the_reader_use_much_memory(extension: ModuleType) -> None:
    for unit in ("<p>", "<blockquote>x</blockquote>", "<br>", "<a href>", "<b>", "<td>", "<li>", "<x>", "&amp;", "<"):
        page = (unit * (400_000 // len(unit))).encode()
        read = extension.read(page, 0)
        assert isinstance(read, str) or len(read[0]) <= 4 * len(page) + 65536
    assert extension.read(b"<p>" + b"<b><i><u>" * 70 + b"<p>x" * 100_000, 0) == "many elements"


def test_a_first_visit_is_the_same_with_both_readers(extension: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    readers = [ContentReader(Settings(), None, None, False) for _ in range(2)]  # type: ignore[arg-type]
    for page in READ:
        reads = []
        for reader, used in zip(readers, (extension, None), strict=True):
            monkeypatch.setattr(native, "extension", used)
            read = reader.read(URL, page.encode(), "text/html", "utf-8", (False, False), False)
            reads.append(read._replace(linked=[*read.linked], hrefs=[*read.hrefs]))
        assert reads[0] == reads[1]


def test_what_is_compared_of_a_text_is_the_same(extension: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    words = ["tide", "Wader", "12", "é", "a-b", "\n", "\t", "x1y2", "; ", "  ", "shore " * 9 + "\n", "ü" * 30, "\r"]
    texts = ["", "1 2 3", "one", "tide " * 90_000, "\n".join(f"line {chance.random()} of many" for _ in range(4000))]
    texts += [" ".join(chance.choices(words, k=chance.randint(1, 3000))) for _ in range(150)]
    for text in texts:
        url = chance.choice(["http://e.org/", "http://e.org/a1/tide-tables?x=Wader", "http://e.org/shoreshore/x1y2"])
        found = []
        for used in (extension, None):
            monkeypatch.setattr(native, "extension", used)
            found.append((sketch(text, url), numbers_of(text, url)))
        assert found[0] == found[1], text[:200]


def test_names_of_characters_are_those_of_html() -> None:
    table = (hatch_build.FOLDER / "entities.h").read_text()
    rows = {name: (int(point), bare == "1") for name, point, bare in re.findall(r'\{"(\w+)", (\d+), ([01])\}', table)}
    assert rows.keys() >= entities.name2codepoint.keys()
    assert {name for name, (_, bare) in rows.items() if bare} == {n for n in entities.html5 if n[-1] != ";"}
    assert {f"{name};": chr(point) for name, (point, _) in rows.items()}.items() <= entities.html5.items()


def test_without_a_compiler_there_is_no_native_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / hatch_build.NAME
    for compiler in ("false", str(tmp_path / "none")):
        old.touch()  # of other sources
        monkeypatch.setenv("CC", compiler)
        assert not hatch_build.compile_reader(old)[0]
        assert not old.exists()


def test_the_version_says_which_reader_runs() -> None:
    surroundings = {**os.environ, "SANDERLING_READER": "python"}
    command = [sys.executable, "-m", "sanderling", "--version"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.endswith(" (Python reader)\n")
