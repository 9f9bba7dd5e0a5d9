"""Who is told of changes, and of which: the setting `notify`.

`to` is an address of Apprise, one URL for each of its services. It contains a password or a token,
so it may be kept elsewhere (`credentials`), and nothing here shows it.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sanderling import credentials

if TYPE_CHECKING:
    from jinja2 import Environment

ChangeName = Literal[
    "structure", "presentation", "text", "image", "behaviour", "new", "gone", "unmatched", "down", "up", "certificate"
]

AT_ONCE = "at once"
_WHEN = re.compile(r"at once|hourly|(?:daily|weekly)(?: (?:[01]\d|2[0-3]):[0-5]\d)?")
_SERVICE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


class Notify(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One address, and what it receives. The default is all news, at once."""

    to: str
    kinds: tuple[ChangeName, ...] = ()
    min_significance: float = 0.0
    hosts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # only watched pages with one of these
    baseline: bool = False  # also the pages of the first crawl
    login: bool = False  # also pages that were read with a login
    when: str = AT_ONCE  # or a digest: hourly, daily, "daily 08:00", weekly
    subject: str = ""  # a template; empty for ours
    body: str = ""

    def __post_init__(self) -> None:
        if not (credentials.is_reference(self.to) or _SERVICE.fullmatch(self.to)):
            raise ValueError(
                "to must be an address such as mailto://user:password@example.org, or env:NAME or file:PATH"
            )
        if not 0 <= self.min_significance <= 1:
            raise ValueError("min_significance must be from 0 to 1")
        if not _WHEN.fullmatch(self.when):
            raise ValueError('when must be "at once", "hourly", "daily", "daily 08:00" or "weekly"')
        for name in ("subject", "body"):
            if complaint := _complaint(getattr(self, name)):
                raise ValueError(f"{name} is not a template: {complaint}")

    @property
    def key(self) -> str:
        """Names the record of what it was sent. Other filters or templates are still the same
        address."""
        return f"notify {self.to} {self.when.partition(' ')[0]} {','.join((*self.hosts, *self.tags))}"

    @property
    def without_secrets(self) -> str:
        """Names the address without its secrets."""
        return self.to if credentials.is_reference(self.to) else f"{self.to.partition('://')[0]}://…"

    def __repr__(self) -> str:
        """Without the address, because settings may be shown or logged."""
        return f"Notify({self.without_secrets!r})"


@cache
def templates() -> "Environment":
    """Reads templates. They are the user's and the text in them is from the web, so neither reaches
    Python's objects."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # late: most crawls have no template

    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)


def _complaint(text: str) -> str:
    """What is wrong with a template; empty if nothing is."""
    if not text:
        return ""
    from jinja2 import TemplateSyntaxError

    try:
        templates().from_string(text)
    except TemplateSyntaxError as error:
        return f"{error.message} (line {error.lineno})"
    return ""


def as_tables(value: Any) -> Any:
    """A list in which an address alone stands for a table with it."""
    if not isinstance(value, list | tuple):
        return value
    return [{"to": each} if isinstance(each, str) else each for each in value]
