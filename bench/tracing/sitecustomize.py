"""Writes down how one page goes through the processes of a crawl.

Python runs this file when a process starts, if its folder is in PYTHONPATH. `bench.journey` puts it
there. A line is written the first time that a function of one module hands the page to a function
of another one, or gets it back.
"""

import atexit
import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_URL, _ID = os.environ["JOURNEY_URL"], int(os.environ["JOURNEY_ID"])
_BYTES = (_URL.encode(), _ID.to_bytes(8, "little", signed=True))
_PACKAGE = os.environ["JOURNEY_PACKAGE"] + os.sep
_FILE = os.open(Path(os.environ["JOURNEY_TO"], f"{os.getpid()}.json"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
# How deep values are looked into: a report holds visits, which hold links.
_DEPTH = 4
_PLAIN = (str, bytes, bytearray, memoryview, int, float, bool, type(None), frozenset, type)

_seen: set[tuple[CodeType, CodeType]] = set()


def _profile(frame: FrameType, event: str, value: Any) -> None:
    if event not in ("call", "return"):
        return
    code, back = frame.f_code, frame.f_back
    if back is None or not code.co_filename.startswith(_PACKAGE) or code.co_name.startswith("<"):
        return
    while back is not None and (
        back.f_code.co_name.startswith("<") or not back.f_code.co_filename.startswith(_PACKAGE)
    ):
        back = back.f_back
    if back is None or back.f_code.co_filename == code.co_filename or (back.f_code, code) in _seen:
        return
    given = _arguments(frame)
    if event == "return":
        carries = _carries(value, _DEPTH)
    else:
        carries = any(_carries(each, _DEPTH) for name, each in given.items() if name != "self")
    if not carries:
        return
    _seen.add((back.f_code, code))
    record = {
        "at": time.monotonic_ns(), "process": _process(), "caller": back.f_code.co_filename[len(_PACKAGE) :],
        "file": code.co_filename[len(_PACKAGE) :], "function": code.co_qualname,
        "about": _about(frame), "pure": all(_is_value(each, 3) for each in given.values()),
    }  # fmt: skip
    os.write(_FILE, (json.dumps(record) + "\n").encode())


def _process() -> str:
    """What this process is for: `client`, or the command, such as `crawl` for the server."""
    found = re.search(r"-m sanderling(?:\.jobs\.| )(\w+)", " ".join(sys.orig_argv))
    return found[1] if found else ""


def _arguments(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    now = frame.f_locals
    return {name: now[name] for name in code.co_varnames[:count] if name in now}


def _about(frame: FrameType) -> str:
    """The first sentence of a function's docstring, or that of its class."""
    made = frame.f_locals.get("self") if frame.f_code.co_name == "__init__" else None
    doc = type(made).__doc__ if made is not None else next(iter(frame.f_code.co_consts), None)
    return " ".join(doc.split()).partition(". ")[0].rstrip(".") if isinstance(doc, str) else ""


def _carries(value: Any, depth: int) -> bool:
    """Whether the page's URL or its identity is in a value."""
    if isinstance(value, str):
        return value == _URL
    if isinstance(value, bytes | bytearray):
        return any(each in value for each in _BYTES)
    if isinstance(value, int):
        return value == _ID
    if depth == 0 or isinstance(value, _PLAIN):
        return False
    if isinstance(value, dict):
        return any(_carries(each, depth - 1) for pair in list(value.items())[:100] for each in pair)
    if isinstance(value, list | tuple | set):
        return any(_carries(each, depth - 1) for each in list(value)[:100])
    if fields := getattr(value, "__struct_fields__", ()):
        return any(_carries(getattr(value, name, None), depth - 1) for name in fields)
    return False


def _is_value(value: Any, depth: int) -> bool:
    """Whether something is only a value: text, numbers, and structs or containers of them."""
    if isinstance(value, _PLAIN) or depth == 0:
        return True
    if isinstance(value, dict):
        return all(_is_value(each, depth - 1) for each in list(value.values())[:10])
    if isinstance(value, list | tuple | set):
        return all(_is_value(each, depth - 1) for each in list(value)[:10])
    config = getattr(type(value), "__struct_config__", None)
    if config is not None and getattr(value, "__struct_fields__", ()):
        return all(_is_value(getattr(value, name, None), depth - 1) for name in value.__struct_fields__)
    return False


threading.setprofile(_profile)
sys.setprofile(_profile)
atexit.register(sys.setprofile, None)
