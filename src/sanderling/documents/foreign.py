"""Reads documents of office programs, and those for which an installed package has a reader, in a
child process with limits. Run as a module, this file is that child.

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


def read(kind: str, body: bytes) -> Text:
    """The text and links of a document of a format that `kind_of` named. Raises ChildFailed for one
    that cannot be read, or not within the limits."""
    return _decode(_child.ask(kind.encode() + b"\n" + body))


def _answer(asked: bytes) -> bytes:
    from sanderling.documents.office import readers  # only the child pays for the import

    kind, _, body = asked.partition(b"\n")
    return msgspec.msgpack.encode(readers.read(kind.decode(), body))


if __name__ == "__main__":
    from sanderling.documents.office import readers  # noqa: F401  before the limits count

    serve(_answer)
