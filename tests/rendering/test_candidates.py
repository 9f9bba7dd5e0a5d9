"""Which pages may need a browser, by their document alone."""

import random
import time

import pytest

from sanderling.browser.candidates import may_need_a_browser
from sanderling.documents import native

WORDS = "the sanderling runs along the beach before the waves "


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<body><div id=app></div><script src=a.js></script>", True),
        ("<body><div id=app></div><noscript>" + WORDS * 20 + "</noscript><script src=a.js></script>", True),
        ("<body><script>" + WORDS * 100 + "</script><p>Loading</p>", True),
        ("<body><a href='/'>Home</a> Loading <SCRIPT src=a.js></SCRIPT>", True),
        ("<body><p>" + WORDS * 10 + "</p><script src=a.js></script>", True),  # no link
        ("<body><p>" + WORDS * 10 + "</p><a href='/'>Home</a><script src=a.js></script>", False),
        ("<body><p>" + WORDS * 30 + "</p><script src=a.js></script>", False),
        ("<body><p>" + WORDS * 30 + "</p>", False),
        ("<body><p>short</p>", False),  # no script
        (
            "<body><a href='/'>首页</a><p>" + "三趾滨鹬在海浪前沿着海滩奔跑" * 10 + "</p><script src=a.js></script>",
            False,
        ),
        ("<head><title>" + WORDS * 30 + "</title></head><script src=a.js></script>", True),
    ],
)
def test_scripts_and_few_words(html: str, expected: bool) -> None:
    assert may_need_a_browser(html.encode()) is expected


def test_the_extension_judges_as_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    pieces = (
        "<script>|<script|</SCRIPT >|<a href=x>|<a\thref = x>|<a>|<A\vHREF\v=|>|<|<!--|-->|<!-->|<!doctype>|<p>|<header>|"
        "<head>|</head>|<svg/>|</svg\n>|<style_x>|<style>|</style>|<body|word |two words |\v|éé|中中中中中|"
        + "a b c "
        * 20
    ).split("|")
    documents = []
    for _ in range(3_000):
        chosen = chance.sample(pieces, chance.randint(2, 15))
        documents.append(("<script>x</script>" + "".join(chance.choices(chosen, k=chance.randint(1, 90)))).encode())
    judged = [may_need_a_browser(each) for each in documents]
    monkeypatch.setattr(native, "extension", None)
    assert judged == [may_need_a_browser(each) for each in documents]
    assert 300 < sum(judged) < 2_900


@pytest.mark.parametrize("part", ["<", "<!--", "<script>", "<a ", "<p", "</", "<svg>", "<head>"])
def test_no_document_takes_long(part: str) -> None:
    started = time.process_time()
    may_need_a_browser(b"<script>" + part.encode() * 200_000)
    assert time.process_time() - started < 5
