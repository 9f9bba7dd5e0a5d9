"""A form as people and programs read of it."""

from typing import Any

from msgspec import Struct

from sanderling.forms.kinds import FormKind, judge
from sanderling.model.form_facts import Field, Form, FormRecord
from sanderling.model.reasons import sentence

# Options of a field that a list names.
_SHOWN = 20


class ListedForm(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `sanderling forms --json`."""

    id: str
    action: str
    method: str
    kind: FormKind
    label: str
    page: str  # where it was seen first
    pages: int
    fields: list[dict[str, Any]]
    state: str  # sent, not sent, closed, paused or complete
    reason: str = ""
    reason_code: str = ""
    until: float = 0.0  # when a form that is closed or paused is tried again
    submissions: int = 0
    requests: int = 0
    wasted: int = 0  # submissions that brought nothing new
    found: int = 0  # records
    estimate: int = 0  # of all records behind it, with an interval
    least: int = 0
    most: int = 0


def listed(form: Form, kind: FormKind, page: str, pages: int, why: str, **done: Any) -> ListedForm:
    """`why` is the reason for its state, and `done` what was sent."""
    state = done.pop("state", "not sent")
    return ListedForm(
        id=f"{form.id & (1 << 64) - 1:016x}", action=form.action or form.written, method=form.method.upper(), kind=kind,
        label=form.label or form.button, page=page, pages=pages, fields=[*map(_field, form.fields)], state=state,
        reason=sentence(why), reason_code=why, **done,
    )  # fmt: skip


def kept(record: FormRecord) -> ListedForm:
    """A form as a crawl with `--forms` left it."""
    state = {"refused": "not sent", "open": "sent"}.get(record.state, record.state)
    done = {
        name: getattr(record, name) for name in ("until", "requests", "wasted", "found", "estimate", "least", "most")
    }
    return listed(
        record.form, judge(record.form).kind, record.page, record.pages, record.reason, state=state,
        submissions=record.queries, **done,
    )  # fmt: skip


def _field(field: Field) -> dict[str, Any]:
    facts = {
        "name": field.name,
        "type": field.type,
        "label": field.label,
        "value": field.value,
        "options": [each.value for each in field.options[:_SHOWN]],
        "offered": field.offered,
        "unseen": field.unseen,
        "required": field.required,
        "pattern": field.pattern,
        "min": field.least,
        "max": field.most,
        "maxlength": field.longest,
    }
    return {name: value for name, value in facts.items() if value or name in ("name", "type")}
