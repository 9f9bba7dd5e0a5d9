"""Reads documents of office programs in a child process with limits. Run as a module, this file is
that child.

One child is shared by the whole process. It is started with the first such document.
"""

from typing import Final

import msgspec

from sanderling.documents.formats import Text
from sanderling.processes.sandboxed import SandboxedChild, serve

# 300 dense pages of a PDF take 40 MiB and 0.6 s. A client reads 16 documents at a time and counts
# as dead when it is silent for a minute, so that 16 bombs have to fit into that.
MEMORY: Final = 512 << 20
SECONDS: Final = 3.0

_child: Final = SandboxedChild("read-document", MEMORY, SECONDS)
_decode: Final = msgspec.msgpack.Decoder(Text).decode


def read(body: bytes) -> Text:
    """The text and links of an office document. Raises ChildFailed for one that cannot be read, or
    not within the limits."""
    return _decode(_child.ask(body))


def _answer(body: bytes) -> bytes:
    from sanderling.documents.office import readers  # only the child pays for the import

    return msgspec.msgpack.encode(readers.read(body))


if __name__ == "__main__":
    from sanderling.documents.office import readers  # noqa: F401  before the limits count

    serve(_answer)
