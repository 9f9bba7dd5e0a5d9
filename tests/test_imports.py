"""Enforces the architecture: rooms are in layers, and a module imports only its own room and lower
layers."""

import ast
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import sanderling
from sanderling.processes.entry_points import ENTRY_POINTS

PACKAGE = Path(sanderling.__file__).parent

# Lowest first. Rooms of one layer do not know each other. The last layer is the composition root.
LAYERS = [
    ["errors", "clock", "files", "arrays", "header_values"],
    ["urls", "credentials", "plugins", "retention"],
    ["subscriptions", "watches"],
    ["settings", "model", "processes"],
    ["graph", "network", "announcements"],
    ["documents"],
    ["change", "forms", "freshness", "topics"],
    ["repository"],
    ["search", "telling"],
    ["client"],
    ["server"],
    ["browser", "cluster"],
    ["presenting", "library", "jobs", "testing"],
    ["agents", "web"],
    ["cli"],
    ["__init__", "__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
# The stages of the server hand values to each other and do not import one another.
STAGES = {"frontier.scope", "ranking.order", "frontier.distributor", "frontier.allocator", "frontier.settling"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@cache
def imported(path: Path) -> set[str]:
    """The sanderling modules a file imports, as dotted paths below the package."""
    return imported_by(nodes_of(path), ["sanderling", *path.relative_to(PACKAGE).parent.parts])


def imported_by(nodes: Iterable[ast.AST], package: list[str]) -> set[str]:
    """The same for a module in a package, of which relative imports count the dots."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return {name.removeprefix("sanderling.") for name in found if name.startswith("sanderling.")} - {"__version__"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_room_has_a_layer_and_says_what_it_is_for() -> None:
    assert {room_of(path) for path in FILES} == set(LEVEL)
    for path in FILES:
        if path.name == "__init__.py":
            assert ast.get_docstring(tree_of(path)), path


@pytest.mark.parametrize("room", LEVEL)
def test_a_room_imports_only_lower_layers(room: str) -> None:
    for path in FILES:
        if room_of(path) == room:
            others = {name.split(".")[0] for name in imported(path)} - {room}
            above = {other for other in others if LEVEL[other] >= LEVEL[room]}
            assert not above, f"{path.relative_to(PACKAGE)} imports {above}"


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("import sanderling.web.app", {"web.app"}),
        ("from sanderling import web", {"web"}),
        ("from sanderling.web import app", {"web", "web.app"}),
        ("from . import ledger", {"server.frontier", "server.frontier.ledger"}),
        ("from .ledger import Ledger", {"server.frontier.ledger", "server.frontier.ledger.Ledger"}),
        ("from ..gate import traps", {"server.gate", "server.gate.traps"}),
        ("from ... import web", {"web"}),
        ("from ...web import app", {"web", "web.app"}),
    ],
)
def test_every_way_to_import_is_seen(line: str, seen: set[str]) -> None:
    assert imported_by(ast.walk(ast.parse(line)), ["sanderling", "server", "frontier"]) == seen


def test_the_product_does_not_import_what_stands_beside_it() -> None:
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", "") or ""}
                assert not {name.split(".")[0] for name in names} & {"lab", "bench", "tests"}, path


def test_the_announcer_needs_python_alone() -> None:
    """It runs beside sites on any platform. `tools.py` says what the product passes in."""
    optional = {"psycopg", "watchdog", "xxhash", "_sha2"}
    for path in sorted((PACKAGE.parent / "sanderling_announce").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 9))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            rooms = {name.partition(".")[0] for name in names} - optional - {"sanderling_announce"}
            assert rooms <= sys.stdlib_module_names, f"{path.name} imports {rooms}"


def test_no_stage_of_the_server_imports_another() -> None:
    for stage in STAGES:
        path = PACKAGE.joinpath("server", *stage.split(".")).with_suffix(".py")
        assert not imported(path) & {f"server.{other}" for other in STAGES - {stage}}


def test_child_processes_are_started_from_one_table() -> None:
    """An import in a string is an import too."""
    for name in ENTRY_POINTS.values():
        path = PACKAGE.joinpath(*name.split(".")[1:])
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), name
    for path in FILES:
        if path != PACKAGE / "processes" / "entry_points.py":
            documented = {ast.get_docstring(tree_of(path), clean=False)}
            for node in nodes_of(path):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in documented:
                    assert not re.search(r"^sanderling\.jobs", node.value), path
                if isinstance(node, ast.Attribute) and node.attr == "executable":
                    raise AssertionError(f"{path.relative_to(PACKAGE)} starts a process by itself")


@pytest.mark.parametrize(("module", "parser"), [("tree", "turbohtml"), ("lexbor", "selectolax")])
def test_one_module_knows_a_parser(module: str, parser: str) -> None:
    """It reads all hostile HTML, so that it stands behind one wall."""
    for path in FILES:
        if path != PACKAGE / "documents" / f"{module}.py":
            for node in nodes_of(path):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not any(name.split(".")[0] == parser for name in names), path.relative_to(PACKAGE)
                if path.name != "tree.py":
                    assert "sanderling.documents.lexbor" not in names, path.relative_to(PACKAGE)


def test_nothing_from_outside_selects_python_objects() -> None:
    """No pickle, marshal, eval or exec anywhere in the package."""
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", "") or ""}
                assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_what_the_package_exports_exists() -> None:
    for name in sanderling.__all__:
        assert getattr(sanderling, name)


def test_a_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
