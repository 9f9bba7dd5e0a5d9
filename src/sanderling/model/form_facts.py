"""A form on a page, and what is known about it: what clients report, and what the store keeps."""

from msgspec import Struct

# What people type into; a field without a type, or with an unknown one, is a text field.
TEXT_TYPES = ("text", "search")
TYPED_TYPES = ("date", "month", "week", "time", "datetime-local", "number", "range", "year")
CHOICE_TYPES = ("select", "radio", "checkbox")


class Option(Struct, frozen=True, array_like=True):
    """A value that a field offers, with the text that people see."""

    value: str
    text: str


class Field(Struct, frozen=True, array_like=True, kw_only=True):
    """One field of a form. The radio buttons of one name are one field, and so are the
    checkboxes."""

    name: str
    type: str
    label: str = ""
    value: str = ""  # what is sent if it is not changed
    options: list[Option] = []
    offered: int = 0  # how many options it has; a page may offer more than are kept
    sent: bool = True  # whether a browser sends it untouched
    unseen: bool = False  # people cannot see it, so whoever fills it in is a robot
    required: bool = False
    pattern: str = ""
    least: str = ""  # min, max and the longest text, as the page says them
    most: str = ""
    longest: int = 0

    @property
    def is_text(self) -> bool:
        return self.type in TEXT_TYPES and not self.unseen

    @property
    def is_choice(self) -> bool:
        return self.type in CHOICE_TYPES and not self.unseen


class Form(Struct, frozen=True, array_like=True, kw_only=True):
    """A form of a page. `id` is the same wherever a site shows the form."""

    id: int
    action: str  # canonical, without what a GET would replace; empty if it leads nowhere on the web
    method: str  # get, post or dialog
    fields: list[Field]
    label: str = ""  # what people would call it
    button: str = ""  # the text of its first submit button
    written: str = ""  # the action as the page says it
    encoding: str = ""  # of a POST; empty for the usual one
    more: int = 0  # fields beyond those that are kept


class Turner(Struct, frozen=True, array_like=True):
    """A link or a button of an answer that leads to another page of its results."""

    label: str  # a number, or "next"
    url: str
    body: str = ""  # of a POST


class Submission(Struct, frozen=True, array_like=True, kw_only=True):
    """One request of a form: a query, or another page of its results. The store keeps it from
    before it is sent."""

    id: int
    form: int
    number: int  # of the query; all pages of its results have the same
    page: int = 1  # of the results
    purpose: str = "word"  # nonsense, default, given, choice or word
    values: list[tuple[str, str]] = []  # what was filled in, by field
    url: str = ""
    body: str = ""  # of a POST
    at: float = 0.0  # when the answer came; 0 while it is under way
    results: bytes = b""  # the packed identities of what it leads to
    new: int = 0  # those that no earlier answer had
    signature: int = 0  # equal for answers that say the same

    @property
    def is_query(self) -> bool:
        return self.page == 1


class FormRecord(Struct, frozen=True, array_like=True, kw_only=True):
    """A form as the store keeps it."""

    form: Form
    host: int
    kind: str
    page: str  # the URL that shows it first
    pages: int = 1
    depth: int = 0
    state: str = "open"  # open, refused, closed, paused or complete
    reason: str = ""
    until: float = 0.0  # when a form that is paused or closed is tried again
    queries: int = 0
    requests: int = 0
    wasted: int = 0
    found: int = 0
    estimate: int = 0
    least: int = 0
    most: int = 0
