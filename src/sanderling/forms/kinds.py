"""What a form is for, and whether it may be sent. When in doubt it may not."""

import re
from typing import Literal, NamedTuple

from sanderling.model.form_facts import TEXT_TYPES, TYPED_TYPES, Field, Form
from sanderling.model.reasons import reason

FormKind = Literal["search", "filter", "login", "other"]
# What `crawl --forms` may say, each with the kinds of forms that it sends.
SENT: dict[str, tuple[FormKind, ...]] = {
    "none": (),
    "search": ("search",),
    "filters": ("search", "filter"),
    "all-get": ("search", "filter", "other"),
}

# What search forms say of themselves: in the name of a field, its label, the button or the action.
_SEARCH_WORDS = """
    search searching find query q s keyword keywords kw term terms lookup suche suchen finden suchbegriff recherche
    rechercher chercher buscar busca busqueda cerca ricerca zoeken sok szukaj hledat haku tim
"""
_SEARCH = frozenset(_SEARCH_WORDS.split())
# A form that says one of these on its button, in its action or in its name changes something, or
# speaks to a person.
_ACTS = {
    "payment": "pay payment donate checkout cart basket bezahlen zahlen spenden warenkorb payer panier pagar carrito",
    "order": "buy order purchase reserve reservation bestellen kaufen buchen acheter commander comprar reservar",
    "mail": "mail email send newsletter senden envoyer enviar",
    "subscribe": "subscribe unsubscribe subscription subscribers abonnieren abonner suscribir",
    "delete": "delete remove destroy drop erase clear purge unlink loschen supprimer eliminar borrar",
    "contact": "contact feedback comment reply kontakt contacto guestbook",
    "login": "login logout signin signout logon logoff register signup join anmelden registrieren connexion",
    "change": "edit update save create add upload import publish vote approve reset",
}
# On a button these do something; elsewhere they may name what is searched for.
_DEEDS = {
    "new": "change",
    "post": "change",
    "rate": "change",
    "book": "order",
    "message": "contact",
    "report": "contact",
    "follow": "subscribe",
    "export": "download",
    "download": "download",
}
_TWO_WORDS = {"sign in": "login", "sign up": "login", "log in": "login", "log out": "login", "add to": "order"}
# A text field that is called so is for something about a person.
_PERSONAL = {
    "mail": "email mail mailto",
    "payment": "card cardnumber creditcard cvc cvv iban bic",
    "contact": "phone telephone mobile message comment comments subject body feedback",
    "login": "login password passwd pwd user username userid",
    "captcha": "captcha recaptcha hcaptcha turnstile",
    "code": "sql code command cmd exec eval shell script",
}
# Fields that are called so say what is done. A path as their value is a deed; elsewhere it is where
# a visitor came from.
_COMMANDS = frozenset(
    ["do", "action", "act", "cmd", "command", "op", "operation", "task", "mode", "method", "func", "event"]
)
# Fields that only change how results are shown, or how several words are combined.
_PRESENTING = """
    sort sortby sorting order orderby direction dir group groupdir sortdir page pagesize per limit start startwith offset
    view format display layout lang columns op operator defaultop
"""
_PRESENTS = frozenset(_PRESENTING.split())
# Text fields that are called so and nothing else take the number of one record.
_NUMBERS = frozenset(["id", "ids", "number", "num", "nr"])
_ACTS_BY_WORD = {word: what for what, words in _ACTS.items() for word in words.split()}
_PERSONAL_BY_WORD = {word: what for what, words in _PERSONAL.items() for word in words.split()}
_CAPTCHA = re.compile(r"captcha|cf-turnstile", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UMLAUTS = str.maketrans("äöüáéíóúàèçñ", "aouaeiouaecn")


class Judged(NamedTuple):
    """A form's kind, and why it is never sent: a reason, or empty."""

    kind: FormKind
    objection: str


def judge(form: Form, named: bool = False) -> Judged:
    """`named`: the user names the form in the settings, so that it may be a POST."""
    kind = _kind(form)
    return Judged(kind, _objection(form, kind, named))


def fillable(form: Form) -> list[Field]:
    """The fields that may be filled in."""
    return [
        field
        for field in form.fields
        if not field.unseen and (field.is_text or field.type in TYPED_TYPES or choices(field))
    ]


def choices(field: Field) -> list[str]:
    """The values that a field offers beside the one that stands for all or none."""
    if not field.is_choice:
        return []
    first = field.value if field.sent else None
    return [value for value in dict.fromkeys(each.value for each in field.options) if value and value != first]


def changes_results(field: Field) -> bool:
    """Whether other values of a field may show other records, not the same ones in another way."""
    return _PRESENTS.isdisjoint(words_in(field.name))


def takes_words(field: Field) -> bool:
    """Whether words may be searched for in a text field."""
    return field.is_text and changes_results(field) and not _NUMBERS.issuperset(words_in(field.name) or [""])


def words_in(text: str) -> list[str]:
    """The words of a name or label: `searchTerm` and `search-term` are two."""
    return [word.lower().translate(_UMLAUTS) for word in _WORD.findall(_CAMEL.sub(" ", text))]


def _kind(form: Form) -> FormKind:
    types = {field.type for field in form.fields}
    if "password" in types:
        return "login"
    texts = [field for field in form.fields if field.type in TEXT_TYPES and not field.unseen]
    if texts:
        said = [form.label, form.button, _path(form.action), *(f"{f.name} {f.label}" for f in texts)]
        searches = any(field.type == "search" for field in texts) or not _SEARCH.isdisjoint(words_in(" ".join(said)))
        lone = len(texts) == 1 and form.method == "get" and "textarea" not in types
        return "search" if searches or lone else "other"
    if "textarea" not in types and any(map(choices, form.fields)):
        return "filter"
    return "other"


def _objection(form: Form, kind: FormKind, named: bool) -> str:
    types = {field.type for field in form.fields}
    if kind == "login":
        return reason("form-login")
    if "file" in types:
        return reason("form-file")
    if not form.action:
        return reason("form-nowhere", form.written[:100] or "nothing")
    if form.method == "dialog":
        return reason("form-nowhere", "dialog")
    if found := _dangerous(form):
        return reason("form-harm", found)
    if form.method == "post" and not named:
        return reason("form-post")
    if not fillable(form):
        return reason("form-empty")
    return ""


def _dangerous(form: Form) -> str:
    if any(_CAPTCHA.search(field.name) for field in form.fields):
        return "captcha"
    if any(field.type in ("email", "tel") and not field.unseen for field in form.fields):
        return "mail"
    said = f"{form.button} {form.label} {_path(form.action)}"
    spoken = f" {' '.join(words_in(said))} "
    for pair, what in _TWO_WORDS.items():
        if f" {pair} " in spoken:
            return what
    for word in spoken.split():
        if word in _ACTS_BY_WORD:
            return _ACTS_BY_WORD[word]
    for word in words_in(form.button):
        if word in _DEEDS:
            return _DEEDS[word]
    for field in form.fields:
        if field.type in (*TEXT_TYPES, "textarea", "hidden") and not field.unseen:
            for word in words_in(field.name if field.type == "hidden" else f"{field.name} {field.label}"):
                if word in _PERSONAL_BY_WORD and (field.type != "hidden" or word in ("captcha", "recaptcha")):
                    return _PERSONAL_BY_WORD[word]
    return next(filter(None, map(_deed, form.fields)), "")


def _deed(field: Field) -> str:
    """What a field does by a value that it has or offers: `cmd=delete_account`, or a select with
    `do=edit`."""
    commands = not _COMMANDS.isdisjoint(words_in(field.name))
    if field.type == "hidden" or field.unseen:
        elsewhere = field.value.startswith("/") or "://" in field.value
        values = [] if not commands and (elsewhere or not changes_results(field)) else [field.value]
    else:
        values = [each.value for each in field.options] if commands and field.is_choice else []
    return next((_ACTS_BY_WORD[word] for value in values for word in words_in(value) if word in _ACTS_BY_WORD), "")


def _path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]
