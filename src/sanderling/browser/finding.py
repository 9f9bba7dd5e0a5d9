"""Which browser is used: the one that the user names, or the first one that is installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from sanderling.errors import BadSetting

# The headless shell comes first: it starts faster and uses less memory.
NAMES = (
    "chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
# Where Playwright puts its browsers.
_CACHE = "PLAYWRIGHT_BROWSERS_PATH"
_SHELLS, _BROWSERS = "chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome"
# A script that only starts a program with its own arguments, such as Debian's for the headless
# shell, which has 70 bytes.
_ONLY_STARTS = re.compile(rb"#!/bin/sh[^\n]*\s+(?:exec\s+)?(/[\w./+-]+) \"\$@\"\s*")
_LONGEST_SCRIPT = 1_000


def find(named: str | None) -> Path | None:
    """The browser to start; None when there is none. BadSetting if the user named one that is not
    there."""
    if named:
        path = shutil.which(named)
        if path is None:
            raise BadSetting(f"browser = {named!r} is not a program that can be started")
        return started_by(Path(path))
    for name in NAMES:
        if (path := shutil.which(name)) is not None:
            return started_by(Path(path))
    cache = Path(os.environ.get(_CACHE) or Path.home() / ".cache/ms-playwright")
    found = [*cache.glob(_SHELLS), *cache.glob(_BROWSERS)]
    return next((path for path in sorted(found, reverse=True) if os.access(path, os.X_OK) and path.is_file()), None)


def started_by(program: Path) -> Path:
    """The program that a script starts, if that is all it does; else the program itself."""
    try:
        with program.open("rb") as file:
            only = _ONLY_STARTS.fullmatch(file.read(_LONGEST_SCRIPT))
    except OSError:
        return program
    started = Path(os.fsdecode(only[1])) if only else program
    return started if os.access(started, os.X_OK) else program


def version_of(browser: Path) -> str:
    """What a browser says about itself; empty when it cannot be started."""
    try:
        said = subprocess.run([browser, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\S.*\d+\.\d+\.\d+[.\d]*", said)
    return found[0] if found else ""
