"""The user's own assignment function: which client a host belongs to."""

from collections.abc import Collection
from pathlib import Path

from sanderling import plugins
from sanderling.server.frontier.allocator import Assignment, owner
from sanderling.settings import Settings


def assignment(settings: Settings, folder: Path) -> Assignment:
    """BadSetting says that it cannot be loaded, and why."""
    if not settings.assignment:
        return owner
    (plugin,) = plugins.load(plugins.ASSIGNMENTS, [settings.assignment], folder)

    def chosen(name: str, places: Collection[str]) -> str:
        """What the function says. If it fails, or names nobody who is there, the hash decides."""
        try:
            found = plugin.value(name, sorted(places)) if places else ""
        except Exception:  # the user's code can raise anything
            found = ""
        return found if found in places else owner(name, places)

    return chosen
