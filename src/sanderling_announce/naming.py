"""Names that hold a hash of the content of a file."""

from __future__ import annotations

import re

from sanderling_announce.hashing import sha256

_NAME = re.compile(r"(?:delta|sitemap)-[0-9a-z-]{1,40}-([0-9a-f]{32})\.(?:jsonl|xml)")


def named_for(stem: str, content: bytes, ending: str) -> str:
    return f"{stem}-{_hash(content)}.{ending}"


def is_file_name(name: str) -> bool:
    """Whether a name can be one of a report: it leads nowhere else."""
    return _NAME.fullmatch(name) is not None


def is_named_for(name: str, content: bytes) -> bool:
    """Whether a file has the content that its name promises."""
    found = _NAME.fullmatch(name)
    return found is not None and found[1] == _hash(content)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]
