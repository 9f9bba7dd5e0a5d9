"""How many queries a form gets, and when it is closed."""

import pytest

from lab.forms import DatabaseForm, HiddenDatabase, ours, texts
from sanderling.forms.answers import Likeness
from sanderling.forms.kinds import takes_words
from sanderling.forms.probing import DULL_KNOWN, Prober
from sanderling.model.form_facts import Field, Form, Submission

SMALL = HiddenDatabase("small", 100, 100, 10)


def form(*fields: Field) -> Form:
    return Form(id=1, action="http://example.org/", method="get", fields=[*fields])


def test_few_queries_of_a_small_database_are_wasted() -> None:
    """A form is closed after a query or two that bring nothing."""
    courses = [ours(DatabaseForm(texts(SMALL.records, seed), seed), SMALL, 60) for seed in range(20, 28)]
    queries = sum(len(course.reached) for course in courses)
    assert sum(course.wasted for course in courses) < 0.25 * queries
    assert sum(course.reached[-1] for course in courses) > 0.95 * SMALL.records * len(courses)


def test_a_form_whose_records_are_known_from_another_form_is_closed_soon() -> None:
    prober = Prober(form(Field(name="q", type="text")), {}, 100, 1, 0.0)
    prober.learned.vocabulary.add_page([f"word{number}" for number in range(50)])
    known = {*range(20)}
    while prober.standing(0.0)[0] == "open" and (plan := prober.next(0.0)) is not None:
        number = len(prober.tried) + 1
        sent = Submission(id=number, form=1, number=number, purpose=plan[0], values=plan[1])
        prober.sent(sent)
        results = [] if plan[0] == "nonsense" else [number, number + 1, number + 2]
        kept = prober.answered(sent, results, Likeness(number, 0, 0), (), elsewhere=known)
        assert kept.new == 0
    assert prober.standing(0.0) == ("closed", f"form-dull:{DULL_KNOWN}")
    assert len(prober.records) > 3  # they are its records all the same


@pytest.mark.parametrize("name", ["@pagesize", "start", "id", "@number", "DEFAULTOP"])
def test_fields_that_take_no_words(name: str) -> None:
    assert not takes_words(Field(name=name, type="text"))
    prober = Prober(form(Field(name=name, type="text")), {}, 100, 1, 0.0)
    assert prober.next(0.0) == ("default", [])


@pytest.mark.parametrize("name", ["q", "", "numbers of birds", "search_id", "part"])
def test_fields_that_take_words(name: str) -> None:
    assert takes_words(Field(name=name, type="text"))


def test_the_field_that_is_answered_gets_the_words() -> None:
    prober = Prober(form(Field(name="place", type="text"), Field(name="part", type="text")), {}, 100, 1, 0.0)
    prober.learned.vocabulary.add_page([f"word{number}" for number in range(50)])
    fields = []
    for number in range(1, 9):
        purpose, values = prober.next(0.0) or ("", [])
        sent = Submission(id=number, form=1, number=number, purpose=purpose, values=values)
        prober.sent(sent)
        answered = purpose == "default" or ("part" in dict(values) and purpose == "word")
        prober.answered(sent, [number, number + 1] if answered else [], Likeness(1 + answered, 0, 0), ())
        fields += [name for name, _ in values if purpose == "word"]
    assert fields.count("place") <= 1 and fields.count("part") >= 5


def test_a_field_that_is_answered_the_same_whatever_the_word_is_left() -> None:
    prober = Prober(form(Field(name="place", type="text"), Field(name="part", type="text")), {}, 100, 1, 0.0)
    prober.learned.vocabulary.add_page([f"word{number}" for number in range(50)])
    fields = []
    for number in range(1, 14):
        purpose, values = prober.next(0.0) or ("", [])
        sent = Submission(id=number, form=1, number=number, purpose=purpose, values=values)
        prober.sent(sent)
        listed = [] if purpose == "nonsense" else [number + 10] if "part" in dict(values) else [1, 2, 3]
        prober.answered(sent, listed, Likeness(number, 0, 0), ())
        fields += [name for name, _ in values if purpose == "word"]
    assert set(fields[-4:]) == {"part"}
