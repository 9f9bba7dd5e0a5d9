"""Groups pages by their URLs. Pages with similar URLs change at similar rates. Before the first
visit, nothing else is known about a page.

`url_folder` is the finest group: one folder, with index pages and numbered pages apart.
`url_pattern` also generalises digits, identifiers and slugs, so that /2024/05/some-title and
/2023/11/other-title are in one group.
"""

import re
from functools import lru_cache

_IDENTIFIER = re.compile(
    r"(?=[0-9a-f]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|(?=\w*\d\w*[A-Za-z])(?=\w*[A-Za-z]\w*\d)\w{10,}", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_SLUG = re.compile(r"\w+(?:[-_+.~%][\w%]+){2,}")
_NUMBERED = re.compile(r"([A-Za-z]{0,8}[-_.]?)\d+")
# Pages that list others change whenever one of those does.
_LISTING = re.compile(r"(?:index|default|home|main|toc|all|list|archive|feed|latest|news)?", re.IGNORECASE)

# Deeper folders are ignored: they are more often traps than structure.
_DEEPEST = 6


def url_folder(url: str) -> str:
    """The exact host and folder, with the kind of page: 'example.org/docs/2.1/page.html'."""
    return url_groups(url)[0]


def url_pattern(url: str) -> str:
    """The host and the generalised folder, with the kind of page:
    'example.org/docs/0.0/page.html'."""
    return url_groups(url)[1]


def url_groups(url: str) -> tuple[str, str]:
    """Folder and pattern of a URL."""
    return groups_of(*cut(url))


def groups_of(place: str, page: str) -> tuple[str, str]:
    """Folder and pattern of the two parts that `cut` returns."""
    host, _, path = place.partition("/")
    folders = [folder for folder in path.split("/") if folder][:_DEEPEST]
    host = host.lower()
    return "/".join([host, *folders, page]), "/".join([host, *map(_shape, folders), page])


def cut(url: str) -> tuple[str, str]:
    """Cuts a URL into its host with folders and the kind of page. Many URLs share both, so they can
    be cached."""
    # No URL parser: a plan reads a million URLs, and they are canonical already.
    _, scheme, rest = url.partition("://")
    before, _, query = (rest if scheme else f"/{url}").partition("#")[0].partition("?")
    place, slash, name = before.rpartition("/")
    if not slash:
        place, name = name, ""
    stem, dot, extension = name.rpartition(".")
    if not dot:
        stem, extension = name, ""
    page = _kind(stem) + (f".{extension.lower()}" if extension else "")
    if not query:
        return place, page
    # The names of query parameters belong to the group; their values do not.
    fields = "&".join(sorted({field.split("=", 1)[0] for field in query.split("&") if field}))
    return place, f"{page}?{fields}" if fields else page


def _kind(stem: str) -> str:
    if _LISTING.fullmatch(stem):
        return "index"
    if stem.isalpha():
        return "page"
    if _IDENTIFIER.fullmatch(stem) and not stem.isdigit():
        return "@"
    numbered = _NUMBERED.fullmatch(stem)
    return f"{numbered[1]}0" if numbered else "page"


@lru_cache(4096)
def _shape(folder: str) -> str:
    """Digits become 0, identifiers @, slugs of three words or more *."""
    if folder.isdigit():
        return "0"
    if _IDENTIFIER.fullmatch(folder):
        return "@"
    if _SLUG.fullmatch(folder) and not folder[0].isdigit():
        return "*"
    return _DIGITS.sub("0", folder)
