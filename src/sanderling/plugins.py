"""Doors: what the user or an installed package adds to the product, found by name.

It is named as `file.py:name`, `package.module:name`, or as an entry point of a group.
Entry points are looked for only when a name is met that is not built in: without such a name, no
door costs anything. `docs/doors.md` teaches all of them.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sanderling.errors import BadSetting

_LONGEST_ERROR = 300


class PluginGroup(NamedTuple):
    name: str  # of the entry points
    what: str  # for messages


EXTRACTORS = PluginGroup("sanderling.extractors", "extractor")
URL_FILTERS = PluginGroup("sanderling.url_filters", "URL filter")
FETCHERS = PluginGroup("sanderling.fetchers", "fetcher")
ORDERS = PluginGroup("sanderling.orders", "order")
ASSIGNMENTS = PluginGroup("sanderling.assignments", "assignment")
REVISIT_POLICIES = PluginGroup("sanderling.revisit_policies", "revisit policy")
NOTIFICATION_TARGETS = PluginGroup("sanderling.notification_targets", "notification target")
DOCUMENT_FORMATS = PluginGroup("sanderling.document_formats", "document format")


class Plugin(NamedTuple):
    """Something that was loaded."""

    name: str  # without the place
    given: str  # as the settings name it
    value: Any


def load(group: PluginGroup, given: Iterable[str], folder: Path) -> list[Plugin]:
    """Loads functions by name; relative paths start at the crawl folder. BadSetting says which one
    fails, and why."""
    files: dict[Path, ModuleType] = {}
    return [_load(group, each, folder, files) for each in given]


def _load(group: PluginGroup, given: str, folder: Path, files: dict[Path, ModuleType]) -> Plugin:
    place, colon, name = given.rpartition(":")
    try:
        if not colon:
            value = _find(group, name)
        elif place.endswith(".py"):
            value = getattr(_in_file(folder / place, files), name, None)
        else:
            value = getattr(importlib.import_module(place), name, None)
    except (Exception, SystemExit) as error:
        raise BadSetting(f"the {group.what} {given!r} cannot be loaded: {described(error)}") from None
    if not callable(value):
        why = f"{place} has no function {name!r}" if colon else f"no installed package offers {name!r}"
        raise BadSetting(f"the {group.what} {given!r} cannot be loaded: {why}")
    return Plugin(name, given, value)


def installed(group: PluginGroup, name: str) -> Any:
    """What an installed package offers by this name; None if none does."""
    try:
        return _find(group, name)
    except (Exception, SystemExit) as error:
        raise BadSetting(f"the {group.what} {name!r} cannot be loaded: {described(error)}") from None


def offers(group: PluginGroup) -> list[str]:
    """The names that installed packages offer. Nothing is loaded."""
    from importlib.metadata import entry_points  # late: it takes longer to import than this module

    return sorted(entry_points(group=group.name).names)


@cache
def _find(group: PluginGroup, name: str) -> Any:
    from importlib.metadata import entry_points

    return next((each.load() for each in entry_points(group=group.name, name=name)), None)


def from_here(given: str) -> str:
    """A name on the command line: if its file is found from the working directory, with its full
    path."""
    place, _, name = given.rpartition(":")
    return f"{Path(place).absolute()}:{name}" if Path(place).is_file() else given


def name_of(function: object) -> str:
    """The name by which another process finds a function: of its file, or of its package."""
    code, name = getattr(function, "__code__", None), getattr(function, "__qualname__", "")
    module = str(getattr(function, "__module__", ""))
    if not name.isidentifier() or code is None:
        raise BadSetting(f"{function!r} cannot be found by other processes: give a function of a module")
    if "." in module:
        return f"{module}:{name}"
    if not Path(code.co_filename).is_file():
        raise BadSetting(f"the function {name!r} is in no file, and other processes have to load it: save it in one")
    return f"{Path(code.co_filename).absolute()}:{name}"


def described(error: BaseException) -> str:
    """An error in one line. It may quote the page, so characters that control a terminal are
    replaced."""
    line = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_ERROR]
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


def _in_file(path: Path, files: dict[Path, ModuleType]) -> ModuleType:
    """A file as a module. It is executed once, however many of its functions are named."""
    if path not in files:
        name = f"sanderling-plugins:{path}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look up their module there
        spec.loader.exec_module(module)
        files[path] = module
    return files[path]
