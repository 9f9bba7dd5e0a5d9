"""The forms of a parsed page: where each leads, its fields, and what people call them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from xxhash import xxh3_64_digest

from sanderling.documents.tree import Document, Element, Text
from sanderling.model.form_facts import Field, Form, Option
from sanderling.urls import WEB, as_written, canonical, join

# A page has more only by accident, or to cost us memory.
MOST_FORMS, MOST_FIELDS, MOST_OPTIONS = 30, 100, 1000
LONGEST_LABEL, LONGEST_VALUE = 100, 500
# What stands beside a field on the screen. A browser writes it (`browser/scripts/labels.js`).
SEEN_LABEL = "data-sanderling-label"

_CONTROLS: Final = ("input", "select", "textarea", "button")
_BUTTONS: Final = ("submit", "image", "button", "reset")
_KNOWN_TYPES: Final = frozenset(
    (
        "text", "search", "hidden", "password", "file", "checkbox", "radio", "submit", "image", "button", "reset", "date",
        "month", "week", "time", "datetime-local", "number", "range", "email", "tel", "url", "color",
    )
)  # fmt: skip
# How pages hide a field from people, and from nobody else.
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)|(?:left|top|text-indent)\s*:\s*-\d{3,}"
    r"|(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)",
    re.IGNORECASE,
)
# So far up it is looked for what hides a field, or for the text beside it.
_ANCESTORS, _BESIDE = 6, 3
_TOKENS: Final = re.compile(
    r"csrf|xsrf|token|nonce|authenticity|__viewstate|__eventvalidation|antiforgery", re.IGNORECASE
)
_RANDOM: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/=_-]{24,}")
_DIGITS: Final = re.compile(r"\d+(?![^/]*//)")
_SPACE: Final = re.compile(r"\s+")


def forms_of(document: Document, base: str) -> list[Form]:
    """The forms of a page. A form inside another one is part of it, as it is for browsers."""
    if document.find("form") is None:
        return []
    labels = _labels(document)
    found = [*document.iter_elements("form")][:MOST_FORMS]
    beside = _controls_beside(document)
    return [
        _form(element, base, labels, [*element.iter_elements(_CONTROLS), *beside.get(element.attr("id") or "", ())])
        for element in found
    ]


def is_token(field: Field) -> bool:
    """Whether a field proves that somebody has seen the page. It is never sent back."""
    return field.type == "hidden" and bool(_TOKENS.search(field.name) or _RANDOM.fullmatch(field.value))


def pairs_of(form: Form, values: Mapping[str, str], button: Field | None = None) -> list[tuple[str, str]]:
    """What a browser would send with some fields filled in, except tokens. A button is sent only if
    it is pressed."""
    left = dict(values)
    pairs = []
    for field in form.fields:
        if field.name in left and field.type not in _BUTTONS and not field.unseen:
            pairs.append((field.name, left.pop(field.name)))
        elif field.sent and field.name not in values and not is_token(field):
            pairs.append((field.name, field.value))
    return [*pairs, *([(button.name, button.value)] if button is not None else [])]


def filled_in(document: Document, base: str, values: Mapping[str, str]) -> tuple[Form, list[tuple[str, str]]] | None:
    """The form of a page that has all these fields, and what a browser sends with them filled in,
    tokens included."""
    for element in document.iter_elements("form"):
        controls = [*element.iter_elements(_CONTROLS)]
        form = _form(element, base, {}, controls)
        if values.keys() <= {field.name for field in form.fields}:
            break
    else:
        return None
    whole = {each.attr("name"): each.attr("value") or "" for each in controls if _type(each) == "hidden"}
    pairs = [
        (field.name, values.get(field.name, whole.get(field.name, field.value)))
        for field in form.fields
        if (field.sent or field.name in values) and field.type not in _BUTTONS
    ]
    pressed = next((field for field in form.fields if field.type in ("submit", "image")), None)
    return form, [*pairs, *([(pressed.name, pressed.value)] if pressed is not None else [])]


def request_of(form: Form, pairs: list[tuple[str, str]]) -> tuple[str, str] | None:
    """The URL and the body that send these; None if they lead to no URL."""
    encoded = urlencode(pairs, errors="replace")
    if form.method == "post":
        return form.action, encoded
    url = canonical(f"{form.action}?{encoded}")
    return (url, "") if url is not None else None


def form_identity(action: str, method: str, fields: Iterable[Field]) -> int:
    """A number that is the same for the form on every page of a site: hidden fields and texts may
    differ."""
    names = sorted({f"{field.name}={field.type}" for field in fields if field.type not in (*_BUTTONS, "hidden")})
    place = action.partition("?")[0]
    if method != "get":  # the form to edit each of a thousand records is one form
        place = _DIGITS.sub("0", place)
    text = "\n".join([method, place, *names])
    return int.from_bytes(xxh3_64_digest(text.encode("utf-8", "surrogatepass")), "big", signed=True)


def _form(element: Element, base: str, labels: dict[str, str], controls: list[Element]) -> Form:
    written = (element.attr("action") or "").strip()
    method = (element.attr("method") or "get").strip().lower()
    method = method if method in ("post", "dialog") else "get"
    named = [each for each in controls if each.attr("disabled") is None and not each.closest("fieldset[disabled]")]
    fields = [*_fields(named, labels)]
    button = next((text for each in controls if _type(each) in ("submit", "image") and (text := _face(each))), "")
    action = _action(base, written, method)
    return Form(
        id=form_identity(action or written, method, fields), action=action, method=method,
        fields=fields[:MOST_FIELDS], label=_form_label(element), button=button, written=written[:LONGEST_VALUE],
        encoding=(element.attr("enctype") or "").strip().lower()[:40], more=max(0, len(fields) - MOST_FIELDS),
    )  # fmt: skip


def _action(base: str, written: str, method: str) -> str:
    """Where a form leads. A GET replaces the query of its action."""
    action = join(base, written) if written else as_written(base)
    if action is None or not action.startswith(WEB):
        return ""
    return action.partition("?")[0] if method == "get" else action


def _controls_beside(document: Document) -> dict[str, list[Element]]:
    """Fields that stand elsewhere and say which form they belong to."""
    found: dict[str, list[Element]] = {}
    for element in document.iter_elements(_CONTROLS):
        owner = element.attr("form")
        if owner and element.closest("form") is None:
            found.setdefault(owner, []).append(element)
    return found


def _fields(controls: Iterable[Element], labels: dict[str, str]) -> Iterator[Field]:
    groups: dict[tuple[str, str], list[Element]] = {}
    for element in controls:
        name, kind = element.attr("name") or "", _type(element)
        if kind in ("radio", "checkbox"):
            groups.setdefault((name, kind), []).append(element)
            if len(groups[name, kind]) > 1:
                continue
        elif not name and kind not in ("password", "file"):
            continue
        else:
            yield _field(element, name, kind, labels)
    for (name, kind), group in groups.items():
        if name:
            yield _group(group, name, kind, labels)


def _field(element: Element, name: str, kind: str, labels: dict[str, str]) -> Field:
    options: list[Option] = []
    offered, sent = 0, kind not in _BUTTONS
    value = element.attr("value") or ""
    if kind == "select":
        every = [each for each in element.iter_elements("option") if each.attr("disabled") is None]
        offered = len(every)
        options = [Option(*_option(each)) for each in every[:MOST_OPTIONS]]
        chosen = next((each for each in every if each.attr("selected") is not None), None)
        if chosen is None and element.attr("multiple") is None and every:
            chosen = every[0]
        value, sent = (_option(chosen)[0], True) if chosen is not None else ("", False)
    elif kind == "textarea":
        value = element.text
    elif kind in _BUTTONS:
        value = value or _face(element)
    return Field(
        name=name[:LONGEST_LABEL], type=kind, label=_label(element, labels), value=value[:LONGEST_VALUE],
        options=options, offered=offered, sent=sent, unseen=kind != "hidden" and _unseen(element),
        required=element.attr("required") is not None, pattern=(element.attr("pattern") or "")[:LONGEST_VALUE],
        least=(element.attr("min") or "")[:40], most=(element.attr("max") or "")[:40],
        longest=_number(element.attr("maxlength") or ""),
    )  # fmt: skip


def _group(group: list[Element], name: str, kind: str, labels: dict[str, str]) -> Field:
    """Radio buttons or checkboxes of one name."""
    options = [Option((each.attr("value") or "on")[:LONGEST_VALUE], _label(each, labels)) for each in group]
    checked = next((each for each in group if each.attr("checked") is not None), None)
    legend = group[0].closest("fieldset")
    title = legend.find("legend") if legend is not None else None
    return Field(
        name=name[:LONGEST_LABEL], type=kind, label=_clean(title.text) if title is not None else options[0].text,
        value=(checked.attr("value") or "on") if checked is not None else "", options=options[:MOST_OPTIONS],
        offered=len(group), sent=checked is not None, unseen=all(map(_unseen, group)),
        required=any(each.attr("required") is not None for each in group),
    )  # fmt: skip


def _type(element: Element) -> str:
    if element.tag != "input":
        return (element.attr("type") or "submit").strip().lower() if element.tag == "button" else element.tag
    said = (element.attr("type") or "text").strip().lower()
    return said if said in _KNOWN_TYPES else "text"


def _option(element: Element) -> tuple[str, str]:
    text = _clean(element.text)
    value = element.attr("value")
    return (text if value is None else value)[:LONGEST_VALUE], text


def _face(element: Element) -> str:
    """What stands on a button."""
    return _clean(element.attr("value") or element.text or element.attr("alt") or element.attr("aria-label") or "")


def _form_label(element: Element) -> str:
    said = element.attr("aria-label") or element.attr("title")
    if said:
        return _clean(said)
    title = element.find("legend") or element.find(["h1", "h2", "h3", "h4"])
    return _clean(title.text if title is not None else element.attr("name") or element.attr("id") or "")


# ---- what people call a field


def _labels(document: Document) -> dict[str, str]:
    """The texts of the labels, by the id of the field each is for."""
    return {id: _clean(each.text) for each in document.iter_elements("label") if (id := each.attr("for"))}


def _label(element: Element, labels: dict[str, str]) -> str:
    """By `for`, by nesting, by what the field says itself, by what people see beside it, and by the
    text before it."""
    id = element.attr("id")
    if id and labels.get(id):
        return labels[id]
    around = element.closest("label")
    if around is not None and (text := _clean(" ".join(_texts(around)))):
        return text
    for name in ("aria-label", "placeholder", "title", SEEN_LABEL):
        if said := element.attr(name):
            return _clean(said)
    if element.attr("type") in ("radio", "checkbox"):
        behind = element.next_sibling
        return _clean(behind.text) if isinstance(behind, Text) else ""
    return _text_beside(element)


def _texts(label: Element) -> Iterator[str]:
    """The text of a label without that of the options inside it."""
    for node in label.descendants:
        if isinstance(node, Text) and not any(each.tag in ("option", "button") for each in _elements(node.ancestors)):
            yield node.text


def _elements(nodes: Iterable[object]) -> Iterator[Element]:
    for node in nodes:
        if isinstance(node, Element):
            yield node
            if node.tag == "label":
                return


def _text_beside(element: Element) -> str:
    """The nearest text in front of a field: in its own row, or in the cell or the line before."""
    node: Element = element
    for _ in range(_BESIDE):
        for before in node.previous_siblings:
            if isinstance(before, Element) and _ends_a_label(before):
                break
            text = _clean(before.text) if isinstance(before, Element | Text) else ""
            if text:
                return text
        parent = node.parent
        if not isinstance(parent, Element) or parent.tag in ("form", "body", "table", "tbody"):
            return ""
        node = parent
    return ""


def _ends_a_label(element: Element) -> bool:
    """Whether what stands in front of an element belongs to something else than the field behind
    it."""
    return element.tag in (*_CONTROLS, "label", "form", "br", "tr") or element.find([*_CONTROLS]) is not None


def _unseen(element: Element) -> bool:
    node: object = element
    for _ in range(_ANCESTORS):
        if not isinstance(node, Element) or node.tag in ("form", "body"):
            return False
        style = node.attr("style")
        if node.attr("hidden") is not None or (style and _HIDING.search(style)):
            return True
        node = node.parent
    return False


def _clean(text: str) -> str:
    return _SPACE.sub(" ", text).strip().rstrip(":*").strip()[:LONGEST_LABEL]


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
