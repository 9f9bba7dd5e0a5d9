"""Which links of an answer are records, which are other views of it, and where it goes on."""

import turbohtml

from sanderling.documents.html_forms import forms_of
from sanderling.forms.answers import leads_on, masked, next_by_url, pages, split, without_echo
from sanderling.forms.sameness import dispatched, kind_of_form, pristine
from sanderling.model.form_facts import Form, Submission, Turner

HOME = "http://example.org"


def form(html: str) -> Form:
    return forms_of(turbohtml.parse(html, positions=False), f"{HOME}/")[0]


WIKI = form("<form action=/doku.php><input type=hidden name=do value=search><input type=hidden name=id value=start>"
            "<input type=search name=q></form>")  # fmt: skip
TABLE = "<form action=/shore/sightings><input type=search name=_search value='{}'><select name=_filter_column{}></form>"


def test_records_and_views() -> None:
    answer = f"{HOME}/doku.php?do=search&id=start&q=knot"
    urls = [
        "doku.php?id=hidden:knot",
        "doku.php?id=start",
        "doku.php?q=knot&do=search&page=2",
        "doku.php?q=dunlin",
        "a/7",
    ]
    parts = split([*enumerate(f"{HOME}/{url}" for url in urls)], answer, WIKI, [("q", "knot")], (), ())
    assert (parts.results, parts.refinements) == ([0, 4], [1, 2, 3])


def test_what_nonsense_is_offered_too_is_no_record() -> None:
    answer = f"{HOME}/doku.php?do=search&id=start&q=knot"
    urls = ["doku.php?id=Knot&do=edit", "feed.php?q=knot", "login?back=%3Fdo%3Dsearch%26q%3Dknot", "doku.php?id=knot"]
    echoes = {masked(f"{HOME}/doku.php?id=Zzz&do=edit", [("q", "zzz")])}
    parts = split([*enumerate(f"{HOME}/{url}" for url in urls)], answer, WIKI, [("q", "knot")], (), (), echoes)
    assert (parts.results, parts.refinements) == ([3], [0, 1, 2])
    assert split([(1, f"{HOME}/feed.php?a=1")], f"{HOME}/doku.php?do=search&q=", WIKI, [], (), (), echoes).results == [
        1
    ]


def test_what_repeats_the_words_is_dropped() -> None:
    values = [("q", "knot")]
    assert without_echo(f"{HOME}/doku.php?id=a&s[]=knot", WIKI, values) == f"{HOME}/doku.php?id=a"
    assert without_echo(f"{HOME}/b?hl=Knot", WIKI, values) == f"{HOME}/b"
    assert without_echo(f"{HOME}/doku.php?q=knot&x=1", WIKI, values) == f"{HOME}/doku.php?q=knot&x=1"


def test_a_redirect_to_the_answer_and_one_to_a_record() -> None:
    values = [("q", "knot")]
    assert leads_on(f"{HOME}/doku.php?q=knot", WIKI, values)
    assert leads_on(f"{HOME}/results?text=knot", WIKI, values)
    assert not leads_on(f"{HOME}/birds/knot", WIKI, values)


def test_a_pager_is_known_by_its_url() -> None:
    answer = f"{HOME}/find?q=knot"
    links = [f"{HOME}/find?q=knot&{more}" for more in ("start=20", "start=10", "place=3", "sort=name")]
    turner = next_by_url(links, answer, ())
    assert turner is not None and turner.url == f"{HOME}/find?q=knot&start=10"
    turner = next_by_url(links, links[1], ())
    assert turner is not None and turner.url == links[0]
    assert next_by_url(links[2:], answer, ()) is None


def test_a_record_may_be_called_by_a_number() -> None:
    asked = Submission(id=1, form=1, number=1, purpose="word", values=[("q", "knot")], url=f"{HOME}/find?q=knot")
    assert pages(Turner("2", f"{HOME}/find?q=knot&page=2"), asked, f"{HOME}/find")
    assert pages(Turner("2", f"{HOME}/find/knot/2"), asked, f"{HOME}/find")
    assert not pages(Turner("2", f"{HOME}/birds/2"), asked, f"{HOME}/find")


def test_a_form_that_grows_is_one_form() -> None:
    first, grown = form(TABLE.format("", "")), form(TABLE.format("knot", "_1"))
    assert kind_of_form(first) == kind_of_form(grown) != kind_of_form(WIKI)
    (text, *_) = pristine(grown, f"{HOME}/shore/sightings?_search=knot").fields
    assert text.value == ""


def test_hidden_fields_may_choose_who_answers() -> None:
    other = form("<form action=/doku.php><input type=hidden name=do value=history><input name=q></form>")
    assert dispatched(other) != dispatched(WIKI)
