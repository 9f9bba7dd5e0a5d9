"""One notification: its subject and its text. Uses no network and no clock.

The text is plain. Who sends it escapes it for where it goes; only words that a chat would act on
are made harmless here.
"""

import re
from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError
from msgspec import Struct

from sanderling.model import VersionRow
from sanderling.subscriptions import Notify, templates
from sanderling.telling.edits import Edit, edits
from sanderling.telling.selection import as_table
from sanderling.urls import hostname

MOST_SHOWN = 50
LONGEST_SUBJECT = 150
LONGEST_TEXT = 20_000

_SUBJECT = """\
{% if edits == 1 %}{{ changes[0].name }}{% if changes[0].also %} and {{ changes[0].also | length }} more{% endif %}: {{ changes[0].what }}\
{% else %}{{ count }} changes on {{ hosts[:3] | join(', ') }}{% if hosts | length > 3 %} and {{ hosts | length - 3 }} more{% endif %}\
{% endif %}"""
_BODY = """\
{% for change in changes %}
{{ change.name }}
{{ change.what }}
{{ change.url }}
{% for url in change.also[:20] %}
{{ url }}
{% endfor %}
{% if change.also | length > 20 %}
and {{ change.also | length - 20 }} more pages
{% endif %}

{% endfor %}
{% if edits > changes | length %}
and {{ edits - changes | length }} more
{% endif %}"""

# What chats take for a call to everybody, or for one of their own commands.
_CALLS = re.compile(r"@(?=everyone|here|channel|all\b|\w)|<(?=[!@#])", re.IGNORECASE)


class Notification(Struct, frozen=True):
    subject: str
    body: str


def notification(versions: Sequence[VersionRow], asked: Notify, titles: dict[str, str] | None = None) -> Notification:
    """What somebody is told of these changes. `titles` are names that the user gave to pages."""
    named = titles or {}
    found = list(edits(reversed(versions), len(versions) or 1))[::-1]
    changes = [_told(edit, named.get(edit.shown.url, "")) for edit in found]
    facts = {
        "changes": changes[:MOST_SHOWN], "edits": len(changes), "count": len(versions),
        "hosts": list(dict.fromkeys(change["host"] for change in changes)),
    }  # fmt: skip
    subject = " ".join(_filled("subject", asked.subject or _SUBJECT, facts).split())
    body = _filled("body", asked.body or _BODY, facts).strip()
    return Notification(_cut(subject, LONGEST_SUBJECT), _cut(body, LONGEST_TEXT))


def trial(asked: Notify) -> Notification:
    """A notification without changes, to test whether it arrives."""
    return Notification("Sanderling: a test", f"Changes of pages will be told here, {asked.when}.")


def _filled(name: str, template: str, facts: dict[str, Any]) -> str:
    try:
        return templates().from_string(template).render(facts)
    except (TemplateError, ValueError, TypeError, ArithmeticError, LookupError) as error:
        return f"(the template of the {name} fails: {error})"


def _told(edit: Edit, title: str) -> dict[str, Any]:
    version = edit.shown
    table = as_table(version)
    what = table.get("excerpt") or version.summary
    name = title or version.title or version.url
    return {
        **table, "host": hostname(version.url), "what": _harmless(what), "name": _harmless(name),
        "title": _harmless(version.title), "summary": _harmless(version.summary),
        "also": [each.url for each in edit.others],
    }  # fmt: skip


def _harmless(text: str) -> str:
    """Text from the web without calls to everybody; a character without width breaks them."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    return _CALLS.sub(lambda found: found[0] + "\u200b", printable)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
