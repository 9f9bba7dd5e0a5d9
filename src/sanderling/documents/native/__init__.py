"""The extension in C, where it was built.

It repeats what modules in Python define: how a page is read (`documents/flat.py`), what of its text
is compared (`client/sketch.py`, `client/lines.py`), and whether scripts may make it
(`browser/candidates.py`). Without it they do it themselves.
"""

import os
from types import ModuleType
from typing import Final

# Of the answers of the extension. One that was built from older sources is not used.
_REVISION: Final = 3


def _load() -> ModuleType | None:
    if os.environ.get("SANDERLING_READER") == "python":
        return None
    try:
        from sanderling.documents.native import _reader
    except ImportError:  # there was no compiler
        return None
    return _reader if _reader.REVISION == _REVISION else None


extension = _load()
# What `sanderling --version` says.
READER: Final = "native reader" if extension is not None else "Python reader"
