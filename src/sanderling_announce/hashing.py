"""Hashes: those of Python itself, because `hashlib` loads OpenSSL, which takes 4 MiB of memory.

And the hash by which the content of a page is compared with what is remembered of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import blake2b, sha256, sha512
else:
    try:
        from _blake2 import blake2b

        try:
            from _sha2 import sha256, sha512  # from Python 3.12 on
        except ImportError:
            from _sha256 import sha256
            from _sha512 import sha512
    except ImportError:
        from hashlib import blake2b, sha256, sha512

__all__ = ["EARLIER", "USUAL", "blake2b", "hasher", "sha256", "sha512"]

USUAL = "blake2b"
# That of memories which were begun with earlier versions.
EARLIER = "xxh3"


def hasher(name: str) -> Callable[[], Any] | None:
    """Makes a new hash of 16 bytes; None when it is not to be had here."""
    if name == USUAL:
        return lambda: blake2b(digest_size=16)
    try:
        from xxhash import xxh3_128
    except ImportError:
        return None
    return xxh3_128
