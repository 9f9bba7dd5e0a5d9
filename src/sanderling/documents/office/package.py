"""Documents that are zip files of XML: Office Open XML and OpenDocument."""

import io
import zipfile
import zlib
from typing import Final, Protocol
from xml.parsers import expat

from sanderling.documents.office.draft import DAMAGED, PROTECTED, Enough
from sanderling.processes.sandboxed import ChildFailed

# So much is unpacked of a document, all parts together: 400,000 cells of a sheet, or a text of
# 5,000 pages. The densest XML of this length took the child 2.5 s of processor time.
UNPACKED: Final = 16 * 1024**2
_PIECE = 1 << 20


class MarkupHandler(Protocol):
    """Takes the events of an XML parser. Names of elements come without their prefix."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def text(self, data: str) -> None: ...


class Package:
    """The parts of a document."""

    def __init__(self, body: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise ChildFailed(DAMAGED) from None
        self._left = UNPACKED

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def parse(self, name: str, handler: MarkupHandler) -> None:
        """Parses a part. Raises Enough when the whole document has unpacked to its limit, and
        ChildFailed for a part that cannot be read."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        start, end = handler.start, handler.end
        parser.StartElementHandler = lambda tag, attributes: start(tag[tag.find(":") + 1 :], attributes)
        parser.EndElementHandler = lambda tag: end(tag[tag.find(":") + 1 :])
        parser.CharacterDataHandler = handler.text
        parser.EntityDeclHandler = _refuse
        try:
            with self._archive.open(name) as part:
                while piece := part.read(_PIECE):
                    parser.Parse(piece)
                    self._left -= len(piece)
                    if self._left < 0:
                        raise Enough
                parser.Parse(b"", True)
        except RuntimeError as error:
            raise ChildFailed(PROTECTED if "password" in str(error) else str(error)) from None
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, expat.ExpatError):
            raise ChildFailed(DAMAGED) from None


def _refuse(*_: object) -> None:
    """Neither format has entities. Those that contain each other are a bomb."""
    raise ChildFailed("it defines entities")


class TitleHandler:
    """Finds the title in the properties of a document."""

    def __init__(self) -> None:
        self.title = ""
        self._within = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._within = tag == "title" and not self.title

    def end(self, tag: str) -> None:
        self._within = False

    def text(self, data: str) -> None:
        if self._within:
            self.title += data


def title_in(package: Package, name: str) -> str:
    handler = TitleHandler()
    if name in package:
        package.parse(name, handler)
    return handler.title


def attribute(attributes: dict[str, str], name: str) -> str:
    """An attribute of a name space, whatever the document's prefix for that is."""
    return next((value for key, value in attributes.items() if key.endswith(":" + name)), "")
