"""Builds the native reader (src/sanderling/documents/native) where there is a C compiler.

Without one, or without the headers of Python, the package is pure Python and reads all pages with a
tree. The extension uses the limited API: one wheel serves every Python from 3.11.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path(__file__).parent / "src" / "sanderling" / "documents" / "native"
NAME = "_reader.abi3.so"
FLAGS = ["-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-fstack-protector-strong"]
LINKING = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]


class NativeReader(BuildHookInterface[Any]):
    """The hook of hatchling."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        built, why = compile_reader(FOLDER / NAME)
        if not built:
            self.app.display_info(f"The native reader is not built: {why}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(f"src/sanderling/documents/native/{NAME}")


def compile_reader(made: Path, extra: tuple[str, ...] = ()) -> tuple[bool, str]:
    """Makes the extension, or removes an old one and says why there is none."""
    made.unlink(missing_ok=True)
    compiler = (
        shlex.split(os.environ.get("CC", ""))
        or [found for each in ("cc", "gcc", "clang") if (found := shutil.which(each))][:1]
    )
    if not compiler:
        return False, "there is no C compiler"
    include = sysconfig.get_path("include")
    command = [*compiler, *FLAGS, *LINKING, f"-I{include}", *extra, str(FOLDER / "reader.c"), "-o", str(made)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, done.stderr.strip()
