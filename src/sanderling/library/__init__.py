"""Crawls from Python, and reads what crawls have stored.

`sanderling.open` (`opened.py`) reads a folder in batches of a few hundred rows, so that no read
transaction stands in the way of a crawl. A `Page` (`page.py`) has the facts of one version; text,
links and the rest are read from the archive when they are asked for. Changes (`changes.py`) are
the versions and the failures (`failures` in the store) after a cursor. Both are numbered in the
order of commits, so a cursor is two numbers. A failure is a visit that brought no content and is
not repeated soon.

The main content of a page is found by `documents/main_content.py`, from the page alone, and
`documents/template.py` removes what repeats on a site. `repository/templates.py` learns that from
some stored pages of each host, when the first page of the host is asked for.
"""

from sanderling.library.changes import Event
from sanderling.library.crawling import Crawl
from sanderling.library.opened import Edge, OpenFolder, open_folder
from sanderling.library.page import Page

__all__ = ["Crawl", "Edge", "Event", "OpenFolder", "Page", "open_folder"]
