"""Finding the forms of a page: where they lead, their fields, and what people call them."""

import turbohtml

from sanderling.documents.html_forms import MOST_FIELDS, MOST_OPTIONS, forms_of
from sanderling.model.form_facts import Field, Form

PAGE = "http://example.org/shop/list?page=3"


def forms(html: str, base: str = PAGE) -> list[Form]:
    return forms_of(turbohtml.parse(html, positions=False), base)


def only(html: str) -> Form:
    (form,) = forms(html)
    return form


def fields(html: str) -> dict[str, Field]:
    return {field.name: field for field in only(html).fields}


def test_where_a_form_leads() -> None:
    assert only("<form action='/find?x=1#y'><input name=q></form>").action == "http://example.org/find"
    assert only("<form><input name=q></form>").action == "http://example.org/shop/list"
    assert only("<form action='' method=POST><input name=q></form>").action == PAGE
    assert only("<form method=POST action='/a?b=1'><input name=q></form>").method == "post"
    assert only("<form method=nonsense><input name=q></form>").method == "get"
    for nowhere in ("javascript:void(0)", "mailto:a@example.org", "ftp://example.org/", "http://[", "data:text/html,x"):
        form = only(f"<form action='{nowhere}'><input name=q></form>")
        assert not form.action and form.written == nowhere


def test_labels_by_for_by_nesting_by_the_field_itself_and_by_the_text_beside_it() -> None:
    found = fields(
        """<form><label for=a>Words <b>here</b>:</label><input id=a name=a>
        <label>Kind <select name=b><option>One<option>Two</select></label>
        <input name=c placeholder="a place"><input name=d aria-label="spoken"><input name=e title="shown">
        <p>Year: <input name=f></p>
        <table><tr><td>Colour *</td><td><select name=g><option>red</select></td></tr></table>
        <p>far away</p><p><input name=h></p></form>"""
    )
    labels = {name: field.label for name, field in found.items()}
    assert labels == {
        "a": "Words here", "b": "Kind", "c": "a place", "d": "spoken", "e": "shown", "f": "Year", "g": "Colour",
        "h": "far away",
    }  # fmt: skip


def test_what_fields_offer_and_what_they_send_untouched() -> None:
    found = fields(
        """<form><select name=a><option value="">any<option value=1>one<option value=2 disabled>two</select>
        <select name=b multiple><option>x</select><select name=c><option>x<option selected>y</select>
        <input type=radio name=d value=1> first <input type=radio name=d value=2 checked> second
        <input type=checkbox name=e><textarea name=f>long text</textarea>
        <input name=g type=number min=1 max=9 required pattern="[0-9]" maxlength=1><input name=off disabled>
        <input type=hidden name=h value=secret><input type=submit name=i value=Go><input value="no name"></form>"""
    )
    assert [(each.value, each.text) for each in found["a"].options] == [("", "any"), ("1", "one")]
    assert (found["a"].value, found["a"].sent) == ("", True)
    assert not found["b"].sent and found["c"].value == "y"
    assert (found["d"].value, found["d"].offered, [each.text for each in found["d"].options]) == (
        "2",
        2,
        ["first", "second"],
    )
    assert not found["e"].sent and found["f"].value == "long text"
    assert (found["g"].least, found["g"].most, found["g"].required, found["g"].longest) == ("1", "9", True, 1)
    assert found["h"].value == "secret" and not found["i"].sent
    assert set(found) == set("abcdefghi")


def test_fields_that_people_cannot_see() -> None:
    found = fields(
        """<form><div style="display: none"><input name=a></div><p hidden><input name=b></p><input name=c style="left:-9999px">
        <input name=d style="color: red"><input type=hidden name=e></form>"""
    )
    assert {name for name, field in found.items() if field.unseen} == {"a", "b", "c"}


def test_forms_in_forms_fields_elsewhere_and_names_that_collide() -> None:
    form = only("<form action=/a id=f><input name=q><form action=/b><input name=r></form></form><input name=s form=f>")
    assert form.action == "http://example.org/a"
    assert [field.name for field in form.fields] == ["q", "r", "s"]
    twice = only("<form><input name=q value=1><input name=q value=2><select name=q><option>3</select></form>")
    assert [(field.name, field.value) for field in twice.fields] == [("q", "1"), ("q", "2"), ("q", "3")]


def test_a_form_is_the_same_on_every_page() -> None:
    html = (
        "<form action=/s><input name=q value='{0}'><input type=hidden name=token value={0}><input type=submit></form>"
    )
    (first,), (second,) = forms(html.format(1)), forms(html.format(2), "http://example.org/other/")
    assert first.id == second.id
    assert first.id != only("<form action=/s><input name=q2></form>").id


def test_a_form_of_any_size_is_bounded() -> None:
    options = "".join(f"<option value={n}>{n}</option>" for n in range(10_000))
    field = fields(f"<form><select name=a>{options}</select></form>")["a"]
    assert (len(field.options), field.offered) == (MOST_OPTIONS, 10_000)
    form = only("<form>" + "".join(f"<input name=f{n}>" for n in range(500)) + "</form>")
    assert (len(form.fields), form.more) == (MOST_FIELDS, 500 - MOST_FIELDS)
