"""The way to a state of a page: which events, on which elements. It is written into the fragment of
the state's URL."""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from sanderling.urls import fragment_of, is_state
from sanderling.urls.fragments import STATE

# Characters that a fragment may contain, without the `~` between two steps.
_SAFE = "!$&'()*+,;=:@/?"
_STEP = re.compile(r"(click|dblclick|mouseover|scroll|route)(?:\*(\d{1,4}))?:(.*)", re.DOTALL)


class Step(NamedTuple):
    """An event, one or several times. The event `route` is another fragment, which stands in place
    of the selector."""

    event: str
    selector: str  # of the element
    times: int = 1


Path = tuple[Step, ...]


def then(path: Path, step: Step) -> Path:
    """A path with one more step. Equal steps are one step that is made more often."""
    if path and path[-1][:2] == step[:2]:
        return (*path[:-1], path[-1]._replace(times=path[-1].times + step.times))
    return (*path, step)


def url_of(document: str, path: Path) -> str:
    """The URL of the state that a path leads to."""
    return f"{document}#{STATE}{'~'.join(map(_written, path))}"


def path_of(url: str) -> Path | None:
    """The path in the URL of a state; empty for any other URL, None if it cannot be read."""
    if not is_state(url):
        return ()
    found = [_STEP.fullmatch(unquote(part)) for part in fragment_of(url).removeprefix(STATE).split("~")]
    if any(step is None for step in found):
        return None
    return tuple(Step(step[1], step[3], int(step[2] or 1)) for step in found if step is not None)


def path_in_words(url: str) -> str:
    """The path of a state for people."""
    path = path_of(url) or ()
    return ", ".join(
        f"{step.event} {step.selector}".strip() + (f" {step.times} times" if step.times > 1 else "") for step in path
    )


def _written(step: Step) -> str:
    times = f"*{step.times}" if step.times > 1 else ""
    return quote(f"{step.event}{times}:{step.selector}", safe=_SAFE).replace("~", "%7E")
