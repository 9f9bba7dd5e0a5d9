"""What means nothing is no news, and what does is."""

import random

import pytest
from turbohtml import parse

from sanderling.change import compare, fingerprint
from sanderling.change.moments import without_moments
from sanderling.documents import native
from tests.change.visited import VisitedPage


def kinds(before: str, after: str) -> list[str]:
    return [*compare(fingerprint(parse(before)), fingerprint(parse(after))).kinds]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<link rel=stylesheet href=/main.3f9a1c77.css><p>a", "<link rel=stylesheet href=/main.b07cc210.css><p>a"),
        ("<link rel=stylesheet href=/a/index-DiwrgTda.css><p>a", "<link rel=stylesheet href=/a/index-BxkqLmNo.css><p>a"),
        ("<script src=/app.3f9a1c77.min.js></script>", "<script src=/app.b07cc210.min.js></script>"),
        ("<script src=/app-DiwrgTda.js></script>", "<script src=/app-BxkqLmNo.js></script>"),
        ("<p>a<img width=1 height=1 src=/count?7>", "<p>a<img width=1 height=1 src=/count?8>"),
        ("<p>Posted 3 minutes ago by Kim", "<p>Posted an hour ago by Kim"),
        ("<p>Made on 2026-03-01 at 08:00:11", "<p>Made on 2026-03-02 at 09:07:12"),
        ("<p>Sun, 01 Mar 2026 08:00:11 GMT", "<p>Mon, 02 Mar 2026 09:07:12 GMT"),
        ("<p>March 1, 2026 8:00:11 am", "<p>March 2, 2026 9:07:12 am"),
        ("<p>Made in about 0.003s by it", "<p>Made in about 0.12s by it"),
        ("<p>Erzeugt in 0,2 Sekunden", "<p>Erzeugt in 0,41 Sekunden"),
    ],
)  # fmt: skip
def test_no_change(before: str, after: str) -> None:
    assert kinds(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("<link rel=stylesheet href=/blue.css><p>a", "<link rel=stylesheet href=/red.css><p>a", "presentation"),
        ("<p>a<img width=10 height=1 src=/a.png>", "<p>a<img width=10 height=1 src=/b.png>", "image"),
        ("<pre>if a:\n  b</pre>", "<pre>if a:\n    b</pre>", "text"),
        ("<textarea>a b</textarea>", "<textarea>a  b</textarea>", "text"),
        ("<form action=/a></form>", "<form action=/b></form>", "behaviour"),
        ("<form action=/a></form>", "<form action=/a method=POST></form>", "behaviour"),
        ("<a href='javascript:one()'>a</a>", "<a href='javascript:two()'>a</a>", "behaviour"),
        ("<p>In stock for 3 minutes", "<p>In stock for 4 minutes", "text"),
        ("<p>Concert on 2026-03-01 at 20:00", "<p>Concert on 2026-03-02 at 20:00", "text"),
        ("<p>She won in 2:03:11", "<p>She won in 2:02:10", "text"),
        ("<p>He ran it in 10.3 seconds", "<p>He ran it in 10.2 seconds", "text"),
        ("<p>A share of 0.2 stays", "<p>A share of 0.3 stays", "text"),
    ],
)
def test_a_change(before: str, after: str, kind: str) -> None:
    assert kinds(before, after) == [kind]


@pytest.mark.parametrize(
    "age",
    [
        "3 minutes ago", "an hour ago", "vor 3 Minuten", "vor einer Stunde", "il y a 2 jours", "hace 3 horas", "5 minuti fa",
        "há 2 dias", "3 dagen geleden", "för 3 timmar sedan", "2 godziny temu", "5 минут назад", "3分前", "3 小时前", "Vor 2 Tagen",
        "Il y a une heure", "just now", "4\xa0minutes ago", "1\xa0hour, 4\xa0minutes ago", "vor 1 Stunde und 4 Minuten",
    ],
)  # fmt: skip
def test_an_age_is_a_time(age: str) -> None:
    assert without_moments(f"Posted {age}, by Kim") == "Posted ·, by Kim"


def test_the_extension_overlooks_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    words = [
        "3",
        "12",
        "a",
        "an",
        "one",
        "eine",
        "un",
        "minutes",
        "hours",
        "Stunden",
        "minutos",
        "jours",
        "ago",
        "AGO",
        "fa",
        "FA",
        "geleden",
        "sedan",
        "ſedan",
        "temu",
        "назад",
        "НАЗАД",
        "vor",
        "Vor",
        "favor",
        "il",
        "l",
        "y",
        "hace",
        "HACE",
        "há",
        "Há",
        "just",
        "now",
        "juſt",
        "NOW",
        "now,",
        "second.",
        "minuti",
        "agog",
        "_ago",
        "faa",
        "é",
        "前",
        "分",
        "٣",
        "2,",
        "and",
        "ı",
        "İl",
    ]
    times = ("", "3 minutes ago", "3 MINUTES AGO", "vor 2 Stunden", "il y a 3 jours", "hace un minuto", "5 minuti fa",
             "just now", "3 分前", "há 2 horas", "3 minutes\xa0ago", "vor\xa0٣ Jahren")  # fmt: skip
    texts = []
    for _ in range(3_000):
        some = chance.sample(words, 6)
        around = ["".join(chance.choice(some) + chance.choice(("", " ", "\xa0")) for _ in range(5)) for _ in range(2)]
        texts.append(f"{around[0]} {chance.choice(times)}{chance.choice(('', '.', 'x', '_'))} {around[1]}")
    found = [*map(without_moments, texts)]
    monkeypatch.setattr(native, "extension", None)
    assert found == [*map(without_moments, texts)]
    assert 500 < sum(map(str.__ne__, found, texts)) < 2_900


def test_a_list_in_another_order_at_each_visit_is_learned() -> None:
    page, chance = VisitedPage(), random.Random(3)
    entries = [f"<li><a href=/{name}>{name}</a></li>" for name in ("lark", "wren", "crow", "swan", "duck", "gull")]

    def shuffled(text: str = "Birds") -> str:
        return f"<h1>{text}</h1><ul>{''.join(chance.sample(entries, len(entries)))}</ul>"

    assert sum(page.news(shuffled() for _ in range(12))) <= 3
    assert page.news([shuffled("All birds")]) == [True]


def test_two_variants_of_a_part_are_learned_also_when_the_page_is_edited() -> None:
    page = VisitedPage()
    variants = ("<p>Try it for free today</p>", "<div><p>Join ten thousand happy readers</p></div>")

    def body(variant: int, text: str) -> str:
        return f"<h1>{text}</h1>{variants[variant]}<p>The rest of it"

    assert page.news(body(at % 2, "Lamp") for at in range(5)) == [False, True, True, False, False]
    assert page.news([body(1, "A lamp")]) == [True]
    assert page.news(body(at % 2, "A lamp") for at in range(4)) == [False] * 4
    assert page.news([body(0, "A new lamp")]) == [True]


def test_noise_is_not_in_the_summary_and_kinds_of_an_edit_beside_it() -> None:
    page = VisitedPage()

    def body(visit: int, price: str) -> str:
        return f"<h1>Lamp</h1><p>Price:</p><p>{price}</p><p>Visitors:</p><p>{visit}</p><img src=/ad{visit}.png>"

    page.news(body(visit, "79") for visit in range(8))
    change = page.visit(body(9, "75"))
    assert change is not None and change.news
    assert (change.kinds.names, change.summary) == (["text"], "1 of 5 paragraphs changed")
