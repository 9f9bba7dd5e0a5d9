"""Which forms of a site are one form, though their pages show them with other values."""

import re
from urllib.parse import parse_qsl, urlsplit

import msgspec

from sanderling.model.form_facts import Form

_NUMBERED = re.compile(r"[_\-.\[]*\d+\]?$")


def kind_of_form(form: Form) -> str:
    """Equal for forms with the same action and the same text fields. What else a form has grows
    with the filters that its page shows; without a text field it is all that there is."""
    shown = [field for field in form.fields if not field.unseen and field.type not in ("hidden", "submit")]
    texts = [field for field in shown if field.is_text]
    names = {_NUMBERED.sub("", field.name) for field in texts or shown}
    kinds = {field.type for field in form.fields} & {"password", "file"}
    return " ".join([form.method, form.action, *sorted(names), *sorted(kinds)])


def dispatched(form: Form) -> tuple[str, ...]:
    """Equal for forms that the same part of a site answers. Behind one address, hidden fields may
    choose it, such as `do=search`."""
    hidden = sorted(f"{field.name}={field.value}" for field in form.fields if field.type == "hidden")
    return (form.method, form.action, *hidden)


def pristine(form: Form, page: str) -> Form:
    """A form without the words that its page was asked for."""
    asked = {pair for pair in parse_qsl(urlsplit(page).query) if pair[1]}
    fields = [
        msgspec.structs.replace(field, value="") if field.is_text and (field.name, field.value) in asked else field
        for field in form.fields
    ]
    return msgspec.structs.replace(form, fields=fields) if asked else form
