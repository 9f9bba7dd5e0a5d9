"""One page that is new, changed or gone, as a report says it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

# The events that a hint may name; pages behind others, and behind forms, are not for crawlers.
EVENTS = ("onload", "onclick", "ondblclick", "onmouseover")
EventName = Literal["onload", "onclick", "ondblclick", "onmouseover"]

# Of one page; and the characters of a text in a hint.
MOST_HINTS = 100
LONGEST_TEXT = 1000

# An element of a hint. Nothing else becomes part of a selector.
_SOURCE = re.compile(r'(?P<tag>[a-z][\w-]*)(?: id="(?P<id>[^"\\\n]+)")?')


@dataclass(frozen=True)
class EventHint:
    """Events of a page that lead to one state of it: any of them, on any of the elements, does."""

    events: tuple[EventName, ...]
    sources: tuple[str, ...]  # elements, as in `div id="next"`
    target: str  # what changes, as in `text.innerHTML`
    function: str  # what is called, or the value that is assigned

    def steps(self) -> Iterator[tuple[str, str]]:
        """The events with selectors of their elements. What a page does when it loads, it does
        anyway."""
        for event in self.events:
            for source in self.sources if event != "onload" else ():
                if found := _SOURCE.fullmatch(source):
                    tag, id = found["tag"], found["id"]
                    yield event[2:], f'{tag}[id="{id}"]' if id else f"{tag}[{event}]"


@dataclass(frozen=True)
class ReportedChange:
    """The newest state of a page within a delta."""

    url: str
    what: Literal["new", "changed", "gone"]
    at: float  # seconds since 1970
    cursor: int
    rank: float = 0.0  # frequency and level together, 0 to 1
    frequency: int = 0  # how often it changed since it is watched
    level: float = 0.0  # closeness to the main page, 0.1 to 0.5
    hints: tuple[EventHint, ...] = ()


def combined(hints: Iterable[EventHint]) -> tuple[EventHint, ...]:
    """Hints of one page, with one for all that agree in target and function: they lead to the same
    state."""
    groups: dict[tuple[str, str], tuple[dict[EventName, None], dict[str, None]]] = {}
    for hint in hints:
        events, sources = groups.setdefault((hint.target, hint.function), ({}, {}))
        events.update(dict.fromkeys(hint.events))
        sources.update(dict.fromkeys(hint.sources))
    return tuple(
        EventHint(tuple(events), tuple(sources), target, function)
        for (target, function), (events, sources) in groups.items()
    )


def encoded(value: object) -> bytes:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def hints_as_json(hints: Iterable[EventHint]) -> list[dict[str, Any]]:
    return [vars(hint) for hint in hints]


def hints_from_json(given: Iterable[dict[str, Any]]) -> tuple[EventHint, ...]:
    return tuple(
        EventHint(tuple(each["events"]), tuple(each["sources"]), each["target"], each["function"]) for each in given
    )


def as_line(change: ReportedChange) -> bytes:
    """A line of a delta. What is as usual is left out."""
    said: dict[str, Any] = {"url": change.url, "what": change.what, "at": change.at, "cursor": change.cursor}
    for name in ("rank", "frequency", "level"):
        if value := getattr(change, name):
            said[name] = value
    if change.hints:
        said["hints"] = hints_as_json(change.hints)
    return encoded(said)


def of_line(line: bytes) -> ReportedChange:
    """A line that was written here."""
    said = json.loads(line)
    return ReportedChange(**{**said, "hints": hints_from_json(said.get("hints", ()))})
