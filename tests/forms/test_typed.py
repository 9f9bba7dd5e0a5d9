"""Typed fields: how they are recognised, and what they are given."""

import pytest

from sanderling.clock import DAY
from sanderling.forms.answers import Likeness
from sanderling.forms.probing import FIRST_PROBE, Prober
from sanderling.forms.typed import kind_of, typed_values
from sanderling.model.form_facts import Field, Form, Submission

NOW = 1_700_000_000.0  # in November 2023


@pytest.mark.parametrize(
    ("field", "kind", "values"),
    [
        (Field(name="d", type="date"), "date", ["2023-11-14", "2023-10-15"]),
        (Field(name="seen_date", type="text"), "date", ["2023-11-14"]),
        (Field(name="m", type="month"), "month", ["2023-11"]),
        (Field(name="y", type="text", pattern="[0-9]{4}"), "year", ["2023", "2022"]),
        (Field(name="x", type="text", label="Year"), "year", ["2023"]),
        (Field(name="year", type="number", least="1990", most="1992"), "year", ["1992", "1991", "1990"]),
        (Field(name="maxPrice", type="text"), "price", ["10", "20"]),
        (Field(name="n", type="number", least="1", most="3"), "number", ["1", "2", "3"]),
        (Field(name="p", type="text", pattern=r"\d{5}"), "postal", ["10115", "10001"]),
        (Field(name="plz", type="text", longest=4), "postal", ["1010", "8001"]),
        (Field(name="c", type="text", label="Country"), "country", ["Germany"]),
        (Field(name="q", type="text", label="Words"), "", []),
        (Field(name="year", type="text", unseen=True), "", []),
    ],
)
def test_typed_fields_get_values_of_their_type(field: Field, kind: str, values: list[str]) -> None:
    assert kind_of(field) == kind
    given = typed_values(field, NOW)
    assert given[: len(values)] == values and bool(given) is bool(values)


def test_a_form_that_brings_nothing_is_closed_and_tried_again_later() -> None:
    form = Form(id=1, action="http://example.org/", method="get", fields=[Field(name="q", type="text")])
    prober = Prober(form, {}, 100, 1, NOW)
    prober.learned.vocabulary.add_page([f"word{number}" for number in range(50)])
    asked = _ask_all(prober)
    state, why = prober.standing(NOW)
    assert state == "closed" and why.startswith("form-dull") and asked < 20
    assert prober.probe_after == FIRST_PROBE * DAY
    prober.reopen()
    assert prober.standing(NOW)[0] == "open" and prober.probe_after == 2 * FIRST_PROBE * DAY
    assert 0 < _ask_all(prober) < 5 and prober.standing(NOW)[0] == "closed"


def _ask_all(prober: Prober) -> int:
    """Answers every query with nothing; returns how many there were."""
    asked, first = 0, len(prober.tried)
    while prober.standing(NOW)[0] == "open" and (plan := prober.next(NOW)) is not None:
        asked += 1
        sent = Submission(id=first + asked, form=1, number=first + asked, purpose=plan[0], values=plan[1])
        prober.sent(sent)
        prober.ended(prober.answered(sent, [], Likeness(1, 0, 0), ()))
    return asked
