"""Settings whose value is kept elsewhere: `env:NAME` is in the environment, `file:PATH` in a file.

So that no password has to be on a command line or in the folder of a crawl. The settings keep the
reference; the value is read when it is used.
"""

import os
import re
from pathlib import Path

from sanderling.errors import BadSetting

_REFERENCE = re.compile(r"env:([A-Za-z_]\w*)|file:(.+)")


def is_reference(value: str | None) -> bool:
    return _REFERENCE.fullmatch(value or "") is not None


def file_of(value: str) -> str:
    """The file that a reference names; empty if it names none."""
    found = _REFERENCE.fullmatch(value)
    return found[2] or "" if found else ""


def from_here(value: str | None, folder: Path = Path()) -> str | None:
    """A reference that holds in any working directory. It is named from `folder` on."""
    found = _REFERENCE.fullmatch(value or "")
    return f"file:{(folder / found[2]).absolute()}" if found and found[2] else value


def revealed(name: str, value: str | None) -> str | None:
    """The value of a setting, wherever it is kept. It is not shown when something is wrong with
    it."""
    found = _REFERENCE.fullmatch(value or "")
    if found is None:
        return value
    variable, file = found.groups()
    if variable:
        secret = os.environ.get(variable, "")
        missing = f"the environment variable {variable} is not set"
    else:
        try:
            secret, missing = Path(file).read_text().strip(), f"{file} is empty"
        except (OSError, UnicodeDecodeError) as error:
            secret, missing = "", f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}"
    if not secret:
        raise BadSetting(f"{name} = {value!r}: {missing}")
    return secret
