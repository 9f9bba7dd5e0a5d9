"""Opens a crawl folder for a run: the lock, the settings, the store, the archive and the socket.

Each step may fail, and what was done before is undone then. A folder that was made for this run is
removed again.
"""

import contextlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from sanderling.documents.parser_choice import choose
from sanderling.files import PRIVATE, write_whole
from sanderling.repository import address, archives, lost, pruning
from sanderling.repository.exposure import exposed
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store
from sanderling.repository.store import ArchiveStore, Store, WhileAway
from sanderling.server import retention
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.run_folder import run_folder
from sanderling.settings import Settings, dump


class OpenCrawl(NamedTuple):
    """A folder that this process may write to."""

    settings: Settings  # with the place of the store in the database, if it is in one
    store: Store
    run_folder: Path
    switchboard: SocketSwitchboard
    messages: list[str]  # what was brought up to date or repaired


def open_crawl(
    folder: Folder, settings: Settings, seeds: list[str], undo: contextlib.ExitStack, while_away: WhileAway
) -> OpenCrawl:
    """`undo` closes all of it again."""
    fresh = not folder.exists()
    folder.path.mkdir(exist_ok=True)
    if settings.login and not folder.warcs.exists():  # what a login shows is for its user only
        folder.path.chmod(0o700)
    folder.warcs.mkdir(exist_ok=True)
    undo.enter_context(hold(folder))
    with contextlib.ExitStack() as failed:
        if fresh:
            failed.callback(folder.abandon)
            settings = msgspec.structs.replace(settings, store=address.located(settings.store, folder.path))
            write_whole(folder.settings, dump(settings, tuple(seeds)).encode(), mode=PRIVATE)
        store = open_store(folder, readonly=False, while_away=while_away)
        undo.callback(store.close)
        choose(settings.html_parser)
        if not store.counts().known:
            archives.require_none(folder.warcs)
        pruning.settle(folder, store)
        messages = [*store.messages, *_mend(folder, store), *exposed(folder, settings)]
        messages += retention.prune_now_and_then(folder, store, settings)
        place = undo.enter_context(run_folder(folder.path))
        new_archives(folder.warcs, place).mkdir()
        switchboard = undo.enter_context(contextlib.closing(SocketSwitchboard(socket_in(place))))
        failed.pop_all()
    return OpenCrawl(settings, store, place, switchboard, messages)


def socket_in(place: Path) -> Path:
    """Where clients and watchers connect to."""
    return place / "socket"


def new_archives(warcs: Path, run_folder: Path) -> Path:
    """Where the clients of a run make new archives (see `fencing`)."""
    return warcs / run_folder.name


def _mend(folder: Folder, store: ArchiveStore) -> list[str]:
    """Sets uncommitted bytes aside, and has pages fetched again whose archive lost bytes; says what
    was done."""
    done = archives.set_aside(folder.warcs, store.warcs())
    known = lost.known_lost(store)
    for short in archives.shortages(folder.warcs, store.warcs()):
        if not lost.holds(known, short.lost):
            pages = lost.give_up(store, [short.lost])
            done.append(f"{short}: {pages:,} pages in it will be fetched again at their next visit")
    return done
