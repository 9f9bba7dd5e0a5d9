"""The architecture, enforced: rooms know the shared values and themselves; only the wiring knows them all."""

import ast
from pathlib import Path

import sanderling

PACKAGE = Path(sanderling.__file__).parent
SHARED = {"model", "graph"}
FREE = {"wiring", "judging", "library", "cli", "web", "testing", "lab", "__main__", "__init__"}
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - SHARED - FREE
STAGES = {"dispatcher", "ranking", "distributor", "allocator", "intake"}


def imported(path: Path) -> set[str]:
    """The sanderling modules a file imports, as dotted paths below the package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("sanderling.") for name in found if name.startswith("sanderling.")}


def files() -> list[tuple[str, Path]]:
    return [(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path) for path in PACKAGE.rglob("*.py")]


def test_no_room_imports_another() -> None:
    for room, path in files():
        if room in ROOMS:
            others = {name.split(".")[0] for name in imported(path)} & (ROOMS | FREE) - {room}
            assert not others, f"{path.relative_to(PACKAGE)} imports {others}"


def test_shared_modules_import_no_room() -> None:
    for top, path in files():
        if (path.parent == PACKAGE or top in SHARED) and top not in FREE:
            assert not {name.split(".")[0] for name in imported(path)} & (ROOMS | FREE), path


def test_no_stage_of_the_server_imports_another() -> None:
    for stage in STAGES:
        path = PACKAGE / "server" / f"{stage}.py"
        assert not imported(path) & {f"server.{other}" for other in STAGES - {stage}}


def test_nothing_from_outside_selects_python_objects() -> None:
    """No pickle, marshal, eval or exec anywhere in the package."""
    for _, path in files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", "") or ""}
                assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_what_the_package_exports_exists() -> None:
    for name in sanderling.__all__:
        assert getattr(sanderling, name)
