"""Reads a browser's bookmark file: seeds of a crawl, examples of a topic, or both."""

from typing import NamedTuple

from sanderling.urls import canonical


class Bookmark(NamedTuple):
    url: str
    title: str
    folders: tuple[str, ...]  # the outermost first


def is_bookmarks(text: str) -> bool:
    """Whether a file is a browser's bookmarks, or another page of links."""
    return text.lstrip()[:200].lower().startswith(("<!doctype netscape-bookmark", "<!doctype html", "<html"))


def bookmarks_in(text: str) -> list[Bookmark]:
    """The web addresses in a bookmark file, each once, with the folders they are in.

    The heading of a folder stands before the list of what is in it. Browsers do not close these
    elements, so the list may be beside its heading or inside its parent.
    """
    from sanderling.documents.tree import parse  # late: few have bookmarks, and all wait for it

    found: dict[str, Bookmark] = {}
    names: dict[int, str] = {}  # by the depth of the list in which the folder's heading stands
    for element in parse(text).iter_elements(("h3", "a")):
        depth = sum(1 for each in element.ancestors if getattr(each, "tag", "") == "dl")
        title = " ".join(element.text.split())
        for deeper in [each for each in names if each >= depth]:
            del names[deeper]
        if element.tag == "h3":
            names[depth] = title
        elif url := canonical(element.attr("href") or ""):
            found.setdefault(url, Bookmark(url, title, tuple(names[each] for each in sorted(names))))
    return list(found.values())
