"""Opens crawl folders: their state, their settings, and the documents in their archive."""

from typing import TYPE_CHECKING

import msgspec

from sanderling.errors import UsageError
from sanderling.repository import address, warc
from sanderling.repository.folder import Folder
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store, WhileAway
from sanderling.settings import Settings, load, overlay

if TYPE_CHECKING:  # who only opens a folder need not wait for a parser
    import turbohtml


def open_store(folder: Folder, readonly: bool, while_away: WhileAway | None = None) -> Store:
    """The state of a crawl, in its folder or where the folder's settings say."""
    store = load(folder.settings)[0].store if folder.settings.exists() else None
    if not store:
        return SqliteStore(folder.database, readonly)
    try:
        from sanderling.repository.postgres import PostgresStore
    except ImportError as error:
        raise UsageError(f"a store in PostgreSQL needs `pip install 'sanderling[postgresql]'` ({error})") from None
    return PostgresStore(store, readonly, while_away)


def settings_for(folder: Folder, chosen: dict[str, object]) -> tuple[Settings, list[str]]:
    """What is chosen now on top of what the folder was made with, and the seeds it was made with."""
    kept, seeds = load(folder.settings) if folder.settings.exists() else (Settings(), ())
    settings = overlay(kept, chosen)
    if folder.exists() and settings.store != kept.store:
        if not address.same(settings.store, kept.store):
            where = address.shown(kept.store) or "the folder"
            raise UsageError(f"the state of {folder.path} is in {where}, and stays there")
        settings = msgspec.structs.replace(settings, store=kept.store)
    return settings, list(seeds)


def text_of(archived: warc.Archived) -> str:
    """The visible text of an archived document."""
    from sanderling.client.reading import visible_text

    return visible_text(archived.url, archived.body, type_of(archived))


def document_in(archived: warc.Archived) -> "turbohtml.Document | None":
    """An archived document as a page of text; None for one that says nothing."""
    from sanderling.client.reading import document_of

    return document_of(archived.url, archived.body, type_of(archived))


def links_in(archived: warc.Archived, document: "turbohtml.Document", settings: Settings) -> bytes:
    """Where an archived document leads, packed as a visit reports it."""
    from sanderling.client.reading import links_of

    tags = [value for name, value in archived.headers if name.lower() == "x-robots-tag"]
    return links_of(document, archived.url, tags, settings)


def type_of(archived: warc.Archived) -> str:
    """What the server said that a document is."""
    return next((value for name, value in archived.headers if name.lower() == "content-type"), "")
