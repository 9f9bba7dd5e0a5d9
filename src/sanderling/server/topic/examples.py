"""Gathers the examples of a topic: from files, from bookmarks, from the web, and from the pages of
a crawl."""

import mimetypes
import random
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sanderling import clock
from sanderling.documents.reading import visible_text
from sanderling.errors import BadTopic, Damaged
from sanderling.model import VersionRow
from sanderling.processes import entry_points
from sanderling.processes.scratch import scratch
from sanderling.repository import views, warc
from sanderling.repository.archive import page_in
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import ViewStore
from sanderling.server.frontier.scope import canonical_seed
from sanderling.server.topic.bookmarks import bookmarks_in, is_bookmarks
from sanderling.settings import Settings
from sanderling.topics.model import Example
from sanderling.topics.words import LENGTH
from sanderling.urls import identity

# How many random pages stand for all that is not on the topic, and how many are fetched at most.
BACKGROUND = 200
MOST_FETCHED = 500
MOST_FILES = 1000
# A page may be relevant from this share of `relatedness` on.
UNSURE = 0.5
# Seconds for all pages together; what came until then is used.
PATIENCE = 300.0


class Named(NamedTuple):
    """What the user named as examples, sorted out: texts that are at hand, and URLs that have to be
    fetched."""

    texts: list[tuple[str, str]]
    urls: list[str]


def named(arguments: Iterable[str], folder_of_bookmarks: str = "") -> Named:
    """Each argument is a URL, a file, a folder of files, or a file of bookmarks."""
    found = Named([], [])
    for argument in arguments:
        path = Path(argument)
        if "://" in argument:
            found.urls.append(canonical_seed(argument))
        elif path.is_dir():
            files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
            found.texts.extend((str(each), text) for each in files[:MOST_FILES] if (text := _text_in(each)))
        elif not path.is_file():
            raise BadTopic(f"{argument} is neither a URL (with http:// or https://) nor a file or folder")
        elif links := named_bookmarks(path, folder_of_bookmarks):
            found.urls.extend(links)
        elif text := _text_in(path):
            found.texts.append((str(path), text))
        else:
            raise BadTopic(f"{argument} has no text to learn from")
    return found


def named_bookmarks(path: Path, wanted: str = "") -> list[str]:
    """The URLs in a bookmark file, or in one folder of it; none if it is another file."""
    text = path.read_bytes()[: 16 * 1024**2].decode("utf-8", "replace")
    if not is_bookmarks(text) or "netscape-bookmark" not in text[:400].lower():
        return []
    found = bookmarks_in(text)
    chosen = [each.url for each in found if not wanted or wanted.lower() in map(str.lower, each.folders)]
    if not chosen:
        names = sorted({name for each in found for name in each.folders})
        listed = f"; it has {', '.join(names[:10])}" if names else ""
        raise BadTopic(f"{path} has no bookmarks{f' in a folder {wanted!r}' if wanted else ''}{listed}")
    return chosen


def _text_in(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "text/plain"
    try:
        return visible_text(path.resolve().as_uri(), path.read_bytes()[: 16 * 1024**2], kind).strip()
    except (OSError, ValueError, LookupError):
        return ""


def fetched(urls: Sequence[str], say: Callable[[str], None], private: bool = True) -> list[tuple[str, str]]:
    """The texts of some pages, fetched with all the manners of a crawl; those that cannot be are
    left out."""
    if not urls:
        return []
    count = min(len(urls), MOST_FETCHED)
    say(f"fetches {count:,} example{'s' * (count != 1)}")
    with scratch("topic") as place:
        listed, folder = place / "examples.txt", place / "crawl"
        listed.write_text("\n".join(list(urls)[:MOST_FETCHED]))
        command = entry_points.command(
            "command", "crawl", "--seeds", listed, "-d", folder, "--max-depth", 0, "--max-time", f"{PATIENCE:.0f}s",
            "--retries", 1, "--no-index", *["--no-private-seeds"] * (not private),
        )  # fmt: skip
        subprocess.run(command, capture_output=True, check=False)
        if not Folder(folder).exists():
            return []
        with reading(folder) as (_, store):
            return texts_of(Folder(folder), views.newest_versions(store, 0, MOST_FETCHED))


def texts_of(folder: Folder, rows: Iterable[VersionRow]) -> list[tuple[str, str]]:
    """The titles and texts of archived pages, by URL."""
    found = []
    with closing(warc.WarcReader(folder.warcs)) as archive:
        for row in rows:
            if not 200 <= row.status < 300:
                continue
            try:
                page = page_in(archive.read(row.stored))
            except (Damaged, OSError):
                continue
            if page.text.strip():
                found.append((row.url, f"{page.title}\n{page.text}"[:LENGTH]))
    return found


def stored(folder: Folder, store: ViewStore, urls: Sequence[str]) -> dict[str, str]:
    """The texts of those pages that a crawl has already."""
    newest = (views.version_at(store, identity(url), clock.now()) for url in urls)
    return dict(texts_of(folder, [row for row in newest if row is not None]))


def background(folder: Folder, store: ViewStore, count: int = BACKGROUND) -> list[Example]:
    """Pages of a crawl at random, which show what is not on the topic.

    A focused crawl has brought many pages that are on it, so those that may be relevant are left
    out.
    """
    last = store.select("SELECT coalesce(max(number), 0) FROM versions")[0][0]
    chance = random.Random(last)  # the same folder gives the same pages
    starts = sorted(chance.sample(range(last), min(last, count)))
    rows = {row.number: row for start in starts for row in views.newest_versions(store, start, 1)}
    off = [row for row in rows.values() if not _may_be_relevant(store, row.url)]
    return [Example(url, False, text, background=True) for url, text in texts_of(folder, off)]


def _may_be_relevant(store: ViewStore, url: str) -> bool:
    """In a good crawl, most pages that a model of few examples just misses are on the topic. As
    counter-examples they would make the model miss most of it."""
    shown = views.url(store, identity(url))
    return shown is not None and shown.relevance >= UNSURE * Settings().relatedness
