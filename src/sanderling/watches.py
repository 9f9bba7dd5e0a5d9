"""The pages that a user watches: the setting `watch`, a table for each page.

A watch says which parts of its page count, how often the page is visited and who is told. It is
the user's promise of a visit, so it wins over what a refresh would plan.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from sanderling import credentials, retention
from sanderling.urls import SEEDABLE, with_fragment

SHORTEST = 1.0  # seconds between two visits
USUAL = 3600.0
_CONDITION = re.compile(r"rises|falls|(?:below|above) -?\d+(?:\.\d+)?")


class Watch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One watched page."""

    url: str
    select: tuple[str, ...] = ()  # selectors of the parts that count; empty for the whole page
    ignore: tuple[str, ...] = ()
    keep_text: tuple[str, ...] = ()  # patterns of lines: only these count
    ignore_text: tuple[str, ...] = ()
    must: tuple[str, ...] = ()  # told only if one of these patterns appears
    must_not: tuple[str, ...] = ()
    number: tuple[str, ...] = ()  # told only if the number rises, falls, or gets below or above a limit
    wait_for: tuple[str, ...] = ()  # selectors of what a browser waits for
    click: tuple[str, ...] = ()  # what it clicks then, one after the other
    script: str = ""  # a file with JavaScript that it runs at last
    every: float = USUAL  # seconds
    title: str = ""
    tags: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()  # addresses that are told of this page alone
    keep: str = ""  # how long versions are kept; empty for as long as the folder says
    paused: bool = False

    def __post_init__(self) -> None:
        if self.url != with_fragment(self.url, SEEDABLE):
            raise ValueError(f"url must be an http:// or https:// address as crawls write it{_written(self.url)}")
        if self.every < SHORTEST:
            raise ValueError("every must be a second or more")
        check_conditions(self.number)
        retention.read_keep(self.keep)
        if not all(map(_is_address, self.notify)):
            raise ValueError(
                "notify must be a list of addresses such as mailto://user:password@example.org, or env:NAME or file:PATH"
            )

    @property
    def pattern(self) -> str:
        """Matches its URL alone."""
        return f"^{re.escape(self.url)}$"

    @property
    def needs_browser(self) -> bool:
        """Whether something happens on the page before it is read."""
        return bool(self.wait_for or self.click or self.script)

    def __repr__(self) -> str:
        """Without the addresses, which contain secrets."""
        return f"Watch({self.url!r})"


def check_conditions(number: Iterable[str]) -> None:
    if not all(map(_CONDITION.fullmatch, number)):
        raise ValueError('number must be "rises", "falls", "below 75" or "above 75"')


def _written(url: str) -> str:
    found = with_fragment(url, SEEDABLE)
    return f": {found}" if found else ""


def _is_address(text: str) -> bool:
    return credentials.is_reference(text) or bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://\S+", text))


def as_tables(value: Any, seconds: Any) -> Any:
    """The tables with their durations as numbers; `seconds` reads one."""
    if not isinstance(value, list | tuple):
        return value
    return [
        {**each, "every": seconds("every of a watch", each["every"])}
        if isinstance(each, dict) and "every" in each
        else each
        for each in value
    ]
