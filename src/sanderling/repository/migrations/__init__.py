"""The schema of each store as numbered steps. A new store takes them all, an older one those it has
not taken yet.

A step that is released is never edited: what it made stands in people's folders. A change is a new
file.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sanderling.repository.migrations.reasons import Run


class SchemaStep(NamedTuple):
    """What brings a schema to its next version."""

    sql: str
    then: "Callable[[Run], None] | None"  # what SQL is not enough for


def _recode(run: "Run") -> None:
    from sanderling.repository.migrations.reasons import recode  # late: only an upgrade needs it

    recode(run)


_THEN = {("sqlite", 9): _recode, ("postgres", 5): _recode}


def steps(store: str) -> list[SchemaStep]:
    """Every step, the first one first; their number is the version of the schema."""
    folder = files(__name__) / store
    named = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    assert [entry.name for entry in named] == [f"{number:04}.sql" for number in range(1, len(named) + 1)]
    return [SchemaStep(entry.read_text("utf-8"), _THEN.get((store, number))) for number, entry in enumerate(named, 1)]
