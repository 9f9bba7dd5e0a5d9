"""What FTP and Gopher servers say instead of a page of links: the listing of a folder, and a menu.

They come without a media type, so the URL says what they are.
"""

import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from sanderling.documents.charsets import decode
from sanderling.documents.formats import FTP_LISTING, GOPHER_MENU, Text

_LONGEST = 50_000  # links
# "drwxr-xr-x 2 ftp ftp 4096 Jan 31 12:00 pub", with or without owner and group; and as MS-DOS
# writes it.
_UNIX = re.compile(
    r"([-dl])[-rwxsStTl]{9}\S?\s.*?\d\s+(?:[A-Z][a-z]{2}\s+\d{1,2}\s+[\d:]{4,5}|\d{4}-\d\d-\d\d\s+\d\d:\d\d)\s(.+)"
)
_DOS = re.compile(r"\d\d-\d\d-\d{2,4}\s+\d\d:\d\d(?:[AP]M)?\s+(<DIR>|\d+)\s+(.+)")
# Types of Gopher items that lead nowhere by themselves: texts between the links, errors, searches,
# telephone books, and sessions of other programs.
_NO_LINKS = "i3728T+"


def implied_type(url: str) -> str:
    """The media type of what is at an address of FTP or Gopher, if it is a listing or a menu."""
    if url.startswith("ftp://"):
        return FTP_LISTING if url.endswith("/") else ""
    if url.startswith("gopher://"):
        return GOPHER_MENU if urlsplit(url).path[:2] in ("", "/", "/1") else ""
    return ""


def _listing(text: str) -> Text:
    names = list[str]()
    for line in text.splitlines()[:_LONGEST]:
        if match := _UNIX.fullmatch(line.rstrip()):
            name = match[2].partition(" -> ")[0] if match[1] == "l" else match[2]
            folder = match[1] == "d"
        elif match := _DOS.fullmatch(line.rstrip()):
            name, folder = match[2], match[1] == "<DIR>"
        else:
            continue
        if name not in (".", ".."):
            names.append(name + "/" * folder)
    return Text("\n".join(names), ["./" + quote(name) for name in names], "")


def _menu(text: str) -> Text:
    said, links = list[str](), list[str]()
    for line in text.splitlines()[:_LONGEST]:
        if line == ".":
            break
        name, *where = line.split("\t")
        said.append(name[1:])
        if len(where) < 3 or not name or name[0] in _NO_LINKS:
            continue
        selector, host, port = where[:3]
        if name[0] == "h" and selector.startswith(("URL:", "/URL:")):
            links.append(selector.partition(":")[2])
        elif port.strip().isdecimal():
            place = host.lower() + f":{int(port)}" * (int(port) != 70)
            links.append(f"gopher://{place}/{name[0]}{quote(selector)}")
    return Text("\n".join(said).strip(), links, "")


_READERS: dict[str, Callable[[str], Text]] = {FTP_LISTING: _listing, GOPHER_MENU: _menu}


def read(kind: str, body: bytes, charset: str | None) -> Text:
    """What a listing or a menu says, and where it leads."""
    return _READERS[kind](decode(body, charset))
