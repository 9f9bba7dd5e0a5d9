"""Transitions are the only way to change the frontier."""

import ast
from pathlib import Path

import sanderling

PACKAGE = Path(sanderling.__file__).parent
# What counts, writes and announces a change.
OWNED = {"rework", "add_depths", "ledger.admitted", "ledger.moved", "self._ledger.moved"}


def calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [func for func in called if isinstance(func, ast.Attribute)]
    return {func.attr for func in named} | {ast.unparse(func) for func in named}


def test_nothing_else_counts_writes_or_announces_a_change() -> None:
    users = {path.name for path in (PACKAGE / "server").rglob("*.py") if calls(path) & OWNED}
    # `beginning` announces what earlier runs left queued, which changes nothing.
    assert users == {"transition.py", "beginning.py"}
