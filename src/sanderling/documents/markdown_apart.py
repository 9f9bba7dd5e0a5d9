"""Pages as Markdown, written in child processes with limits. Run as a module, this file is such a
child.
"""

from collections.abc import Set
from typing import Final, NamedTuple

import msgspec

from sanderling.documents.unreadable import UNREADABLE
from sanderling.processes.sandboxed import SandboxedChild, serve

MEMORY: Final = 2 << 30
# For all pages that are asked for at once; a page takes 2 ms.
SECONDS: Final = 60.0


class Source(NamedTuple):
    """A page that can be written as Markdown."""

    url: str  # links are completed with it
    archived_as: str
    type: str
    body: bytes
    repeated: Set[int] = frozenset()  # the blocks of its site (`documents/template.py`)


class _Asked(msgspec.Struct, array_like=True):
    """Pages that are asked for together. Those of one site share a template."""

    pages: list[tuple[str, str, str, bytes, int]]
    templates: list[frozenset[int]]


_decode_asked: Final = msgspec.msgpack.Decoder(_Asked).decode
_decode_texts: Final = msgspec.msgpack.Decoder(list[bytes]).decode


def child() -> SandboxedChild:
    return SandboxedChild("write-markdown", MEMORY, SECONDS)


def written(source: Source) -> str:
    """The main content of a page; empty for one that says nothing, or cannot be read."""
    from sanderling.documents.markdown import as_markdown
    from sanderling.documents.reading import document_of

    try:
        document = document_of(source.archived_as, source.body, source.type)
    except UNREADABLE:
        return ""
    return as_markdown(document, source.url, source.repeated).strip() if document is not None else ""


def ask(writer: SandboxedChild, sources: list[Source]) -> list[str]:
    """The same, written by a child. Raises ChildFailed if it fails at one of the pages."""
    templates = {id(each.repeated): each.repeated for each in sources}
    place = {key: number for number, key in enumerate(templates)}
    pages = [(*each[:4], place[id(each.repeated)]) for each in sources]
    asked = _Asked(pages, [frozenset(each) for each in templates.values()])
    return [each.decode("utf-8", "surrogatepass") for each in _decode_texts(writer.ask(msgspec.msgpack.encode(asked)))]


def _answer(request: bytes) -> bytes:
    asked = _decode_asked(request)
    texts = [written(Source(*page[:4], asked.templates[page[4]])) for page in asked.pages]
    return msgspec.msgpack.encode([text.encode("utf-8", "surrogatepass") for text in texts])


if __name__ == "__main__":
    from sanderling.documents import markdown, reading  # noqa: F401  before the limits count

    serve(_answer)
