"""One page that is new, changed or gone, as a report says it."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

# The events that a hint may name; pages behind others, and behind forms, are not for crawlers.
EVENTS = ("onload", "onclick", "ondblclick", "onmouseover")
EventName = Literal["onload", "onclick", "ondblclick", "onmouseover"]

# What a reader takes, so that no line holds more than it says.
Text = Annotated[str, Meta(max_length=1000)]
Share = Annotated[float, Meta(ge=0, le=1)]
MOST_HINTS = 100


# An element of a hint. Nothing else becomes part of a selector.
_SOURCE = re.compile(r'(?P<tag>[a-z][\w-]*)(?: id="(?P<id>[^"\\\n]+)")?')


class EventHint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Events of a page that lead to one state of it: any of them, on any of the elements, does."""

    events: Annotated[tuple[EventName, ...], Meta(max_length=MOST_HINTS)]
    sources: Annotated[tuple[Text, ...], Meta(max_length=MOST_HINTS)]  # elements, as in `div id="next"`
    target: Text  # what changes, as in `text.innerHTML`
    function: Text  # what is called, or the value that is assigned

    def steps(self) -> Iterator[tuple[str, str]]:
        """The events with selectors of their elements. What a page does when it loads, it does
        anyway."""
        for event in self.events:
            for source in self.sources if event != "onload" else ():
                if found := _SOURCE.fullmatch(source):
                    tag, id = found["tag"], found["id"]
                    yield event.removeprefix("on"), f'{tag}[id="{id}"]' if id else f"{tag}[{event}]"


class ReportedChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """The newest state of a page within a delta."""

    url: str
    what: Literal["new", "changed", "gone"]
    at: Annotated[float, Meta(ge=0)]  # seconds since 1970
    cursor: int
    rank: Share = 0.0  # frequency and level together, 0 to 1
    frequency: Annotated[int, Meta(ge=0)] = 0  # how often it changed since it is watched
    level: Share = 0.0  # closeness to the main page, 0.1 to 0.5
    hints: Annotated[tuple[EventHint, ...], Meta(max_length=MOST_HINTS)] = ()


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
