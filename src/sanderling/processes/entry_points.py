"""The child processes that are not commands: their names and the modules that run them.

`tests/test_imports.py` reads this table: no other place may name a module to be run as a process.
"""

import sys

ENTRY_POINTS = {
    "client": "sanderling.jobs.client",
    "relay": "sanderling.jobs.relay",
    "rank": "sanderling.jobs.rank",
    "plan": "sanderling.jobs.plan",
    "refine": "sanderling.jobs.refine",
    "index": "sanderling.jobs.index",
    "deliver": "sanderling.jobs.deliver",
    "listen": "sanderling.jobs.listen",
    "decode-image": "sanderling.change.pixels",
    "take-fingerprint": "sanderling.change.archived",
    "read-document": "sanderling.documents.foreign",
    "write-markdown": "sanderling.documents.markdown_apart",
    # The command line itself, for a whole command beside a process that must stay responsive.
    "command": "sanderling",
}


def command(name: str, *arguments: object) -> list[str]:
    """How an entry point is started."""
    return [sys.executable, "-m", ENTRY_POINTS[name], *map(str, arguments)]
