"""What a watch compares: by CSS, XPath, JSONPath and patterns of lines; and when it is told."""

import json

import pytest
from turbohtml import parse

from sanderling.change.conditions import Conditions, number_in
from sanderling.change.rules import ChangeRules, matched, unmatched
from sanderling.change.selectors import problem
from sanderling.documents.formats import kind_of
from sanderling.documents.reading import as_document

PAGE = parse(
    '<h1>Kettle</h1><p class=a>Price: <b>79.00</b></p><p class=b>Stock: 4</p><a href="/z">more</a>'
    '<script type="application/ld+json">{"offers": {"price": "79.00"}}</script>'
)
ANSWER = as_document(json.dumps({"at": 5, "items": [{"name": "kettle", "price": 79}, {"name": "lamp", "price": 120}]}))


@pytest.mark.parametrize(
    ("page", "rules", "found"),
    [
        (PAGE, ChangeRules(watch=(".a", "b")), ["Price: 79.00"]),
        (PAGE, ChangeRules(watch=("//p[2]", "//a/@href", "xpath:count(//p)")), ["Stock: 4", "/z", "2"]),
        (PAGE, ChangeRules(watch=(".a",), ignore=("//b",)), ["Price:"]),
        (PAGE, ChangeRules(watch=("$.offers.price",)), ["79.00"]),
        (PAGE, ChangeRules(keep_text=(r"(?:Price|Stock): (\S+)",)), ["79.00", "4"]),
        (PAGE, ChangeRules(ignore_text=("Stock", "more|Kettle")), ["Price: 79.00"]),
        (ANSWER, ChangeRules(watch=("$.items[?@.price < 100].name",)), ["kettle"]),
        (ANSWER, ChangeRules(watch=("json:$..price",)), ["79", "120"]),
        (ANSWER, ChangeRules(ignore=("$.at", "$.items[0]"), keep_text=(r'"(\w+)":',)), ["items", "name", "price"]),
        (as_document("Minutes\nAgreed: 7\n"), ChangeRules(keep_text=("Agreed",)), ["Agreed: 7"]),  # the text of a PDF
    ],
)
def test_what_a_watch_compares(page: object, rules: ChangeRules, found: list[str]) -> None:
    assert matched(page, rules) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rules", [ChangeRules(watch=(".no", "//no", "$.no", ".a")), ChangeRules(keep_text=("no", "P"))]
)
def test_what_matches_nothing_is_named(rules: ChangeRules) -> None:
    assert unmatched(PAGE, rules) == [*(each for each in rules.watch if "no" in each), *rules.keep_text[:1]]


@pytest.mark.parametrize("selector", ["[", "//b[", "$.x[", "$[?match(@.a, '(a+)+')]", "$[?@.a =~ /x/]"])
def test_a_wrong_selector_is_explained(selector: str) -> None:
    assert problem(selector)


def test_deep_json_matches_nothing() -> None:
    assert matched(as_document("[" * 50_000), ChangeRules(watch=("$..a",))) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("79.00 €", 79.0),
        ("only 1,299.50 left", 1299.5),
        ("1.299,00 €", 1299.0),
        ("1.299 €", 1299.0),
        ("0.125", 0.125),
        ("-5 °C", -5.0),
        ("CHF 1'250.-", 1250.0),
        ("A4, 12 sheets", 12.0),
        ("sold out", None),
    ],
)
def test_the_number_in_a_text(text: str, number: float | None) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("conditions", "before", "after", "told"),
    [
        (Conditions(number=("falls",)), "79", "75", True),
        (Conditions(number=("falls",)), "75", "79", False),
        (Conditions(number=("below 70", "above 100")), "75", "71", False),
        (Conditions(number=("below 70", "above 100")), "75", "69", True),
        (Conditions(number=("below 70",)), "69", "68", False),  # it was below before
        (Conditions(number=("above 100",)), "99", "101", True),
        (Conditions(number=("rises",)), "sold out", "75", False),
        (Conditions(must=("In stock", "Few")), "Sold out", "Few left", True),
        (Conditions(must=("In stock",)), "In stock", "Sold out", False),
        (Conditions(must_not=("(?i)sold out",)), "In stock", "SOLD OUT", False),
    ],
)
def test_when_a_change_is_told(conditions: Conditions, before: str, after: str, told: bool) -> None:
    assert (conditions.objection(before, after) == "") is told


def test_json_types_are_text() -> None:
    assert kind_of(b'{"a": 1}', "application/vnd.api+json") == "text"
