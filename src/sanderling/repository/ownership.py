"""Which folder a namespace in a database belongs to: two folders in one namespace would mix their
crawls.

A folder whose state is in a database has a random token in a file of its own. The namespace keeps
the token, and where the folder was when it was opened last. A folder may be moved, and keeps its
namespace. A copy has the same token: it is refused as long as the first one is where it was.
"""

import secrets
import socket
from pathlib import Path

import msgspec

from sanderling.files import PRIVATE, write_whole
from sanderling.repository.folder import Folder

# Under this key the namespace remembers its owner.
OWNER = "folder"


class Owner(msgspec.Struct, frozen=True):
    """A folder, as a namespace knows it."""

    token: str
    path: str
    machine: str

    def __str__(self) -> str:
        return f"the folder {self.path} on {self.machine}"


def owner_in(folder: Folder) -> Owner:
    """A folder as an owner; its token is made with the first call."""
    if not (token := _token(folder.path)):
        token = secrets.token_hex(16)
        write_whole(folder.token, token.encode(), mode=PRIVATE)
    return Owner(token, str(folder.path.resolve()), socket.gethostname())


def other_owner(kept: str, owner: Owner) -> Owner | None:
    """The folder that a namespace belongs to, by what it keeps, if that is another one."""
    if not kept:
        return None
    found = msgspec.json.decode(kept, type=Owner)
    if found.token != owner.token:
        return found
    moved = found.path == owner.path or found.machine != owner.machine or _token(Path(found.path)) != found.token
    return None if moved else found


def _token(path: Path) -> str:
    try:
        return Folder(path).token.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
