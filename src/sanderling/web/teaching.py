"""Teaches the model of a crawl's topic which pages are on it."""

from typing import NamedTuple

from sanderling.errors import UsageError
from sanderling.repository.folder import Folder
from sanderling.repository.store import ViewStore
from sanderling.server.topic import examples
from sanderling.server.topic.topic import SEVERAL
from sanderling.topics.model import Example, read, write


class Taught(NamedTuple):
    """How good the model is now, by its own examples; None where there are too few."""

    precision: float | None
    recall: float | None


def require_topic(folder: Folder) -> None:
    if not folder.topic.exists():
        raise UsageError("this crawl has no topic: start it with one")


def teach(folder: Folder, store: ViewStore, url: str, relevant: bool) -> Taught:
    """Adds a stored page to the examples of the topic, or to the counter-examples, and trains the
    model with it."""
    from sanderling.topics.training import train  # late: it takes a moment to load

    require_topic(folder)
    text = examples.stored(folder, store, [url]).get(url)
    if not text:
        raise UsageError("the page has no text to learn from")
    before = read(folder.topic)
    if before.others:
        raise UsageError(SEVERAL)
    known = before.examples
    if not any(each.background for each in known):
        known = [*known, *examples.background(folder, store)]
    topic = train(before.name, [*known, Example(url, relevant, text)])
    write(folder.topic, topic)
    return Taught(topic.quality.precision, topic.quality.recall)
