"""The watched pages of all crawls: their list, and how it is changed.

Who uses the API may be another person than the owner of the server. So watched pages and addresses
that are told must not be at private addresses, unless the server allows it, and no address names a
file or a variable of the server.
"""

import urllib.parse
from collections.abc import Mapping
from typing import Any, NamedTuple

from sanderling import credentials
from sanderling.change.rules import ChangeRules, focus, problem
from sanderling.errors import Damaged, SanderlingError, UsageError
from sanderling.model import ChangeKind, Command, VersionRow
from sanderling.repository import views, warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import ViewStore
from sanderling.server.requests import remote, watch_list
from sanderling.settings import load
from sanderling.urls import SEEDABLE, identity, with_fragment
from sanderling.urls.patterns import pattern
from sanderling.watches import Watch
from sanderling.web.api.crawls import not_begun
from sanderling.web.problems import NotFound
from sanderling.web.running import Runner, check_public
from sanderling.web.shelf import Shelf

# The folder of pages that are watched and belong to no crawl.
HOME = "watches"
# Services of Apprise that act on this machine instead of sending something.
_LOCAL = {"dbus", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows"}
_LETTERS = 200


class WatchedPage(NamedTuple):
    """A watch, and what is known of its page."""

    crawl: str
    watch: Watch
    running: bool
    page: views.Shown | None = None
    newest: VersionRow | None = None
    changed: VersionRow | None = None  # the newest version that is news
    value: str = ""  # what its selectors match in the newest version

    @property
    def id(self) -> int:
        return identity(self.watch.url)


def watches(shelf: Shelf, crawl: str = "") -> list[WatchedPage]:
    found: list[WatchedPage] = []
    for name, folder in shelf.folders().items():
        if not crawl or name == crawl:
            found += _of_folder(shelf, name, folder)
    return found


def watched(shelf: Shelf, crawl: str, page: int) -> WatchedPage:
    for each in _of_folder(shelf, crawl, shelf.folder(crawl)):
        if each.id == page:
            return each
    raise NotFound("this page is not watched")


def _of_folder(shelf: Shelf, name: str, folder: Folder) -> list[WatchedPage]:
    try:
        listed = watch_list.watches(folder)
        running = bool(listed) and in_use(folder)
        if not listed or not_begun(folder):
            return [WatchedPage(name, each, running) for each in listed]
        with shelf.opened(folder) as store:
            return [_known(name, folder, store, each, running) for each in listed]
    except SanderlingError:
        return []  # the list of crawls says what is wrong


def _known(name: str, folder: Folder, store: ViewStore, watch: Watch, running: bool) -> WatchedPage:
    id = identity(watch.url)
    count = views.version_count(store, id)
    versions = views.versions(store, id, max(1, count - 20), count) if count else []
    newest = versions[-1] if versions else None
    news = [each for each in versions if each.news and each.kinds and not each.kinds & ChangeKind.NEW]
    return WatchedPage(
        name, watch, running, views.url(store, id), newest, news[-1] if news else None,
        _value(folder, newest, watch) if newest and watch.select else "",
    )  # fmt: skip


def _value(folder: Folder, version: VersionRow, watch: Watch) -> str:
    if version.kinds & ChangeKind.GONE:
        return ""
    try:
        document = document_in(warc.read(folder.warcs, version.stored))
    except (Damaged, OSError):
        return ""
    if document is None:
        return ""
    return " ".join(
        focus(document, ChangeRules(watch.ignore, watch.select, watch.keep_text, watch.ignore_text)).text.split()
    )[:_LETTERS]


# ---- changes of the list


def add(shelf: Shelf, runner: Runner, crawl: str, url: str, given: Mapping[str, Any]) -> WatchedPage:
    """Watches a page in a crawl, or in the folder `watches`, which is made if needed."""
    page = page_address(url)
    if not runner.allow_private:
        check_public([page])
    _check(given, runner.allow_private)
    folder = shelf.folder(crawl) if crawl in shelf.folders() else shelf.room_for(crawl or HOME)
    watch_list.add(folder, page, _filled(given))
    name = next(name for name, each in shelf.folders().items() if each.path == folder.path)
    return watched(shelf, name, identity(page))


def edit(shelf: Shelf, runner: Runner, crawl: str, page: int, given: Mapping[str, Any]) -> WatchedPage:
    """Changes the given facts. Empty ones are removed."""
    _check(given, runner.allow_private)
    url = watched(shelf, crawl, page).watch.url
    watch_list.edit(shelf.folder(crawl), url, {name: value or None for name, value in given.items()})
    return watched(shelf, crawl, page)


def remove(shelf: Shelf, crawl: str, page: int) -> None:
    watch_list.remove(shelf.folder(crawl), watched(shelf, crawl, page).watch.url)


def begin(shelf: Shelf, runner: Runner, crawl: str) -> None:
    """Visits the pages of a folder from now on, if it has watched pages only."""
    folder = shelf.folder(crawl)
    if only_watches(folder) and not runner.kept:
        runner.watch(folder)


def restart(shelf: Shelf, runner: Runner, crawl: str) -> None:
    """Has a running watch follow its changed list."""
    folder = shelf.folder(crawl)
    listed = watch_list.watches(folder)
    if runner.kept or not in_use(folder) or not only_watches(folder):
        return
    if all(each.paused for each in listed):
        remote.command(folder.path, Command("stop"))
    else:
        runner.watch(folder)


def page_address(text: str) -> str:
    url = with_fragment(text.strip(), SEEDABLE)
    if url is None:
        raise UsageError(f"{text!r} is not an address that begins with http:// or https:// and a host")
    return url


def only_watches(folder: Folder) -> bool:
    """Whether a folder has watched pages and no crawl, so that a start visits only these."""
    settings, seeds = load(folder.settings) if folder.settings.exists() else (None, ())
    return settings is not None and settings.max_depth == 0 and {each.url for each in settings.watch} >= {*seeds}


def check_address(address: str, allow_private: bool) -> None:
    """Refuses addresses that do more than send a message to the world."""
    if credentials.is_reference(address):
        raise UsageError("an address has to be given as it is here, such as mailto://user:password@example.org")
    service = urllib.parse.urlsplit(address).scheme.lower()
    if not service or "://" not in address:
        raise UsageError("an address must be one of Apprise, such as mailto://user:password@example.org")
    if service in _LOCAL:
        raise UsageError(f"{service}:// acts on the server itself, which is not allowed here")
    if not allow_private:
        check_public([address], must_exist=False)


def _check(given: Mapping[str, Any], allow_private: bool) -> None:
    for selector in (*(given.get("select") or ()), *(given.get("ignore") or ())):
        if why := problem(selector):
            raise UsageError(f"{selector!r} is not a valid selector: {why}")
    for name in ("keep_text", "ignore_text", "must", "must_not"):
        for text in given.get(name) or ():
            pattern(text)
    for address in given.get("notify") or ():
        check_address(address, allow_private)


def _filled(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value}
