"""What a form is for, and that no form is sent that may do harm."""

import pytest
import turbohtml

from sanderling.documents.html_forms import forms_of, is_token
from sanderling.forms.kinds import Judged, choices, fillable, judge
from sanderling.model.form_facts import Form
from sanderling.model.reasons import argument_of, code_of


def form(html: str) -> Form:
    return forms_of(turbohtml.parse(html, positions=False), "http://example.org/")[0]


def judged(html: str, named: bool = False) -> Judged:
    return judge(form(html), named)


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("<form><input name=q></form>", "search"),
        ("<form><input type=search name=x><input name=y></form>", "search"),
        ("<form><input name=a><input name=b><input type=submit value=Suchen></form>", "search"),
        ("<form action=/catalog/searchTerm><input name=a><input name=b></form>", "search"),
        ("<form><input name=a><input name=b></form>", "other"),
        ("<form><select name=a><option value=''>any<option>1</select></form>", "filter"),
        ("<form><input type=radio name=a value=1 checked><input type=radio name=a value=2></form>", "filter"),
        ("<form><textarea name=a></textarea></form>", "other"),
        ("<form><input name=user><input type=password name=p></form>", "login"),
    ],
)
def test_kinds(html: str, kind: str) -> None:
    assert judged(html).kind == kind


@pytest.mark.parametrize(
    "html",
    [
        "<form><input name=q><input type=submit value=Search></form>",
        "<form action=/book/search><label>Title of the book <input name=title></label><button>Find</button></form>",
        "<form><select name=order><option>asc<option>desc</select><input name=q><input type=submit value=Apply></form>",
        "<form action=/news><input name=q aria-label='Search news and reports'></form>",
    ],
)
def test_forms_that_may_be_sent(html: str) -> None:
    assert judged(html).objection == ""


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<form><input name=q><input type=password name=p></form>", "form-login"),
        ("<form><input name=q><input type=file name=f></form>", "form-file"),
        ("<form method=post><input name=q></form>", "form-post"),
        ("<form action=/t.csv><input type=checkbox name=all><button>Export CSV</button></form>", "download"),
        ("<form action='javascript:go()'><input name=q></form>", "form-nowhere"),
        ("<form method=dialog><input name=q></form>", "form-nowhere"),
        ("<form><input type=hidden name=a value=b></form>", "form-empty"),
        ("<form><input name=email></form>", "mail"),
        ("<form><input type=email name=x></form>", "mail"),
        ("<form><input name=q><input type=submit value=Subscribe></form>", "subscribe"),
        ("<form action=/newsletter><input name=q></form>", "mail"),
        ("<form action=/item/delete><input name=id></form>", "delete"),
        ("<form><input name=id><input type=hidden name=action value=delete></form>", "delete"),
        ("<form><input name=q><button>L\u00f6schen</button></form>", "delete"),
        ("<form><input name=n><button>Buy now</button></form>", "order"),
        ("<form action=/checkout><input name=n></form>", "payment"),
        ("<form><input name=cardNumber></form>", "payment"),
        ("<form aria-label='Contact us'><input name=n></form>", "contact"),
        ("<form><input name=message></form>", "contact"),
        ("<form><input name=q><input name=g-recaptcha-response></form>", "captcha"),
        ("<form><input name=username></form>", "login"),
        ("<form><input name=q><button>Sign up</button></form>", "login"),
        ("<form><input name=sql></form>", "code"),
        ("<form><input name=q><button>Post</button></form>", "change"),
    ],
)
def test_forms_that_are_never_sent(html: str, why: str) -> None:
    objection = judged(html).objection
    assert why in (code_of(objection), argument_of(objection))


def test_a_post_that_the_user_names_may_be_sent_unless_it_does_harm() -> None:
    assert judged("<form method=post><input name=q></form>", named=True).objection == ""
    assert judged("<form method=post><input name=q><button>Delete</button></form>", named=True).objection
    assert judged("<form method=post><input name=q><input type=password name=p></form>", named=True).objection


def test_tokens_and_what_may_be_filled_in() -> None:
    found = form(
        """<form><input type=hidden name=csrf_token value=1><input type=hidden name=k value=a8f5f167f44f4964e6c998dee827110c>
        <input type=hidden name=db value=default><input name=q><p hidden><input name=website></p>
        <select name=s><option value="">any<option>1<option>2<option>2</select><textarea name=t></textarea></form>"""
    )
    assert [is_token(field) for field in found.fields[:3]] == [True, True, False]
    assert [field.name for field in fillable(found)] == ["q", "s"]
    assert choices(found.fields[5]) == ["1", "2"]


@pytest.mark.parametrize(
    "field",
    [
        "<input type=hidden name=cmd value=delete_account>",
        "<input type=hidden name=do value=deleteAll>",
        "<input type=hidden name=x value='user.remove'>",
        "<input type=hidden name=action value=/account/delete>",
        "<select name=do><option value=show>Show<option value=edit>Edit</select>",
    ],
)
def test_a_value_that_does_something_is_harm(field: str) -> None:
    assert code_of(judged(f"<form><input name=q>{field}</form>").objection) == "form-harm"


@pytest.mark.parametrize(
    "field",
    [
        "<input type=hidden name=from value=/login>",
        "<input type=hidden name=@columns value=title,order,id>",
        "<select name=about><option value=mail>Mail<option value=birds>Birds</select>",
    ],
)
def test_a_value_that_names_something_is_none(field: str) -> None:
    assert not judged(f"<form><input name=q>{field}</form>").objection
