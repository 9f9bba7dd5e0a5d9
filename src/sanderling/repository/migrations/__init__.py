"""The schema of each store as numbered steps. A new store takes them all, an older one those it has not taken yet.

A step that is released is never edited: what it made stands in people's folders. A change is a new file.
"""

from importlib.resources import files


def steps(store: str) -> list[str]:
    """The SQL of every step, the first one first; their number is the version of the schema."""
    folder = files(__name__) / store
    named = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    assert [entry.name for entry in named] == [f"{number:04}.sql" for number in range(1, len(named) + 1)]
    return [entry.read_text("utf-8") for entry in named]
