"""Opens crawl folders: their state and their settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sanderling import credentials
from sanderling.documents.parser_choice import choose
from sanderling.errors import UsageError
from sanderling.plugins import from_here
from sanderling.repository import address
from sanderling.repository.folder import Folder
from sanderling.repository.known_file import KnownFile
from sanderling.repository.ownership import owner_in
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store, WhileAway
from sanderling.settings import HIDEABLE, PLUGINS, Settings, load, overlay, tokens_from


def open_store(folder: Folder, readonly: bool, while_away: WhileAway | None = None) -> Store:
    """The state of a crawl, in its folder or where the folder's settings say."""
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    choose(settings.html_parser)
    store = settings.store
    if not store:
        return SqliteStore(folder.database, readonly)
    try:
        from sanderling.repository.postgres import PostgresStore
    except ImportError as error:
        raise UsageError(f"a store in PostgreSQL needs `pip install 'sanderling[postgresql]'` ({error})") from None
    owner = None if readonly else owner_in(folder)
    return PostgresStore(address.resolved(store), readonly, while_away, owner, KnownFile(folder.known))


def settings_for(folder: Folder, chosen: dict[str, object]) -> tuple[Settings, list[str]]:
    """What is chosen now on top of what the folder was made with, and the seeds it was made
    with."""
    kept, seeds = load(folder.settings) if folder.settings.exists() else (Settings(), ())
    here = {name: credentials.from_here(value) for name in HIDEABLE if isinstance(value := chosen.get(name), str)}
    if chosen.get("topic") and not kept.topic:
        chosen = {"order": "topic", **chosen}
    settings = overlay(kept, {**chosen, **here})
    # In the folder's settings, files are named from the folder on.
    plugins = {name: tuple(map(from_here, getattr(settings, name))) for name in PLUGINS if name in chosen}
    settings = msgspec.structs.replace(settings, **plugins)
    if settings.assignment and "assignment" in chosen:
        settings = msgspec.structs.replace(settings, assignment=from_here(settings.assignment))
    if settings.take_at:
        settings = msgspec.structs.replace(settings, take_at=tokens_from(Path(), settings.take_at))
    if folder.exists() and settings.store != kept.store:
        if not address.same(settings.store, kept.store):
            where = address.without_password(kept.store) or "the folder"
            raise UsageError(f"the state of {folder.path} is in {where}, and stays there")
        settings = msgspec.structs.replace(settings, store=kept.store)
    return settings, list(seeds)


@contextmanager
def reading(path: Path, while_away: WhileAway | None = None) -> Iterator[tuple[Folder, Store]]:
    """A crawl folder for reading; it may be crawled into at the same time."""
    folder = Folder(path)
    folder.require()
    store = open_store(folder, readonly=True, while_away=while_away)
    try:
        yield folder, store
    finally:
        store.close()
