"""Limits the memory of a process that parses what strangers wrote.

Beyond the limit an allocation fails, and the page at hand is kept unread. Without it the system
would end the process, or another one.
"""

import contextlib
import resource
from pathlib import Path
from typing import Final

# What parsing may take on top of what a process has when it begins. A client that reads pages of
# ordinary sites stays below 300 MiB.
MEMORY: Final = 2 << 30
# The dashboard and commands that read archives hold more.
MUCH_MEMORY: Final = 4 << 30


def limit_memory(most: int = MEMORY) -> None:
    """Lets this process take so much more memory, and no more. Files that it maps do not count. A
    lower hard limit stays."""
    with contextlib.suppress(OSError, ValueError, IndexError):  # a system that has no such limit
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = _data() + most
        if hard == resource.RLIM_INFINITY or soft < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def lift_memory_limit() -> None:
    """A command that another process started does not inherit its limit."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def _data() -> int:
    """Bytes of private memory that this process has mapped."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * resource.getpagesize()
