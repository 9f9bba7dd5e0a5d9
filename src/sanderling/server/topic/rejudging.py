"""Judges stored pages again when the model of the topic has changed, so that one model has judged
all of them.

The texts come from the archive. The newest version of each page is judged, then the links to what
was not visited, and then the pages off the topic that lead to each URL are counted again. How far
this is stands in the store, in the commit of what was judged: after a kill it goes on there.
"""

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

import msgspec
from xxhash import xxh3_64_hexdigest

from sanderling.errors import Damaged
from sanderling.model import ChangeKind, Rejudged, State, VersionRow
from sanderling.model.reasons import reason
from sanderling.repository import views, warc
from sanderling.repository.archive import page_in
from sanderling.repository.folder import Folder
from sanderling.repository.store import JudgedStore
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.transition import Move, Transition, record
from sanderling.server.gate.tunnel import CODE
from sanderling.settings import Settings
from sanderling.topics.judging import EACH, Judge, judge_by, with_topics
from sanderling.topics.model import Topic, for_clients

if TYPE_CHECKING:
    from sanderling.documents.extracting import ReadPage

# Which model has judged all pages, and how far a newer one is.
JUDGED_BY, JUDGING = "judged_by", "judging"
BATCH = 200
LINKS_AT_ONCE = 5000
# What a start of a crawl spends on it at most, in seconds. The rest is said, and done by the next
# one.
LONGEST_START = 120.0

# Called with how many versions are judged, and how many there are. If it returns False, the work
# ends for now.
OnProgress = Callable[[int, int], bool]


class _At(msgspec.Struct):
    """How far a model is."""

    model: str
    version: int = 0
    link: int = 0


class NotedStore(Protocol):
    def noted(self, key: str) -> str: ...


def mark_of(topic: Topic) -> str:
    """By what a model is known again."""
    return xxh3_64_hexdigest(for_clients(topic))


def is_behind(store: NotedStore, topic: Topic | None) -> bool:
    """Whether pages may have been judged by another model than this."""
    return topic is not None and store.noted(JUDGED_BY) != mark_of(topic)


def said(store: NotedStore, topic: Topic | None) -> str:
    """What people should know who look at relevances; empty when one model has judged all pages."""
    if topic is None or not store.noted(JUDGED_BY) or not is_behind(store, topic):
        return ""
    if _progress(store, mark_of(topic)).version:
        return "The model was trained further. Some pages are still judged by the model before."
    return "The model was trained further. The pages are judged by the model before."


def begin(store: JudgedStore, folder: Folder, settings: Settings, topic: Topic) -> list[str]:
    """At the start of a crawl: judges what another model has judged; returns what the user should
    know."""
    if not is_behind(store, topic):
        return []
    if not store.newest_version():
        store.judge_anew(Rejudged(notes={JUDGED_BY: mark_of(topic)}))
        return []
    until = time.monotonic() + LONGEST_START
    before = time.monotonic()
    if judge_anew(store, folder, settings, topic, lambda done, all: time.monotonic() < until):
        return [f"the model of the topic changed: all pages were judged again in {time.monotonic() - before:.0f} s"]
    return [
        "the model of the topic changed, and some pages are still judged by the one before: the next start goes on, or "
        f"`sanderling topic {folder.path} --judge`"
    ]


def judge_anew(store: JudgedStore, folder: Folder, settings: Settings, topic: Topic, on_progress: OnProgress) -> bool:
    """Judges everything by this model, from where it was; returns whether it came to the end."""
    judge, model = judge_by(for_clients(topic)), mark_of(topic)
    at = _progress(store, model)
    newest = store.newest_version()
    while rows := views.newest_versions(store, at.version, BATCH):
        at.version = rows[-1].number
        judged = _relevances(folder, rows, judge)
        pages = [(row.number, relevance) for row, relevance, _ in judged]
        store.put_extracted(_by_topic(judged))
        store.judge_anew(Rejudged(pages=pages, relatedness=settings.relatedness, notes=_noted(at)))
        if not on_progress(min(at.version, newest), newest):
            return False
    while links := store.unvisited(at.link, LINKS_AT_ONCE):
        at.link = links[-1][0]
        ranked = [(number, judge.link(anchor, "", url)) for number, url, anchor in links]
        store.judge_anew(Rejudged(links=ranked, notes=_noted(at)))
        if not on_progress(newest, newest):
            return False
    _count_anew(store, settings)
    store.judge_anew(Rejudged(notes={JUDGED_BY: model, JUDGING: ""}))
    return True


def _progress(store: NotedStore, model: str) -> _At:
    try:
        at = msgspec.json.decode(store.noted(JUDGING) or "null", type=_At)
    except msgspec.DecodeError:
        return _At(model)
    return at if at.model == model else _At(model)


def _noted(at: _At) -> dict[str, str]:
    return {JUDGING: msgspec.json.encode(at).decode()}


def _by_topic(judged: list[tuple[VersionRow, float, dict[str, float]]]) -> list[tuple[int, str | None]]:
    """The data of versions whose relevance for each of several topics is another now."""
    found = []
    for row, _, by_topic in judged:
        if (row.extracted or {}).get(EACH, {}) != by_topic:
            data = with_topics(msgspec.json.encode(row.extracted) if row.extracted else b"", by_topic)
            found.append((row.number, data.decode() or None))
    return found


def _relevances(
    folder: Folder, rows: list[VersionRow], judge: Judge
) -> list[tuple[VersionRow, float, dict[str, float]]]:
    found = []
    with closing(warc.WarcReader(folder.warcs)) as archive:
        for row in rows:
            if row.kinds & ChangeKind.GONE:
                continue
            try:
                page = page_in(archive.read(row.stored))
            except (Damaged, OSError):  # `sanderling check` names it
                continue
            found.append((row, *_relevance(judge, page)))
    return found


def _relevance(judge: Judge, page: "ReadPage") -> tuple[float, dict[str, float]]:
    """As a client judges it: in all, and for each of several topics."""
    if not page.text:
        return 0.0, {}
    if page.tree is None:
        return judge.page(page.title, page.text), judge.each(page.title, page.text)
    from sanderling.documents.visible import text_and_links

    told = text_and_links(page.tree, spent=True)
    return judge.page(page.title, *told), judge.each(page.title, *told)


def _count_anew(store: JudgedStore, settings: Settings) -> None:
    """Counts the pages off the topic before each URL that was not visited; holds what is too far,
    frees what is not."""
    from sanderling.server.topic.off_topic import counts

    near, far, counted = [], [], []
    for id, count, state, was, why in counts(store, settings.relatedness):
        held = why.startswith(CODE)
        if count > settings.tunnel_depth and (state == State.QUEUED or (held and was != count)):
            far.append((id, reason(CODE, count)))
        elif count <= settings.tunnel_depth and state == State.KNOWN and held:
            near.append(id)
        if count != was:
            counted.append((id, count))
    queued = store.known([id for id, _ in far])
    moves = [Move(id, 0, 0, State.KNOWN) for id in near]
    moves += [Move(id, 0, 0, State(queued[id][1]), State.KNOWN, why) for id, why in far]
    record(Transition(moves=moves), store, Ledger(store.counts()))
    store.judge_anew(Rejudged(off_topic=counted))
