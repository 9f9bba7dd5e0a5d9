"""Crawls from Python, and reads what crawls have stored."""

from sanderling.library.changes import Event
from sanderling.library.crawling import Crawl
from sanderling.library.opened import Edge, OpenFolder, open_folder
from sanderling.library.page import Page

__all__ = ["Crawl", "Edge", "Event", "OpenFolder", "Page", "open_folder"]
