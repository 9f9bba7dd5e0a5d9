"""The topic of a crawl: the model in its folder, or one that is made from words."""

from pathlib import Path

import msgspec

from sanderling.errors import BadTopic, UsageError
from sanderling.repository.folder import Folder
from sanderling.settings import Settings
from sanderling.topics.model import Example, Topic, read, write


def topic_of(settings: Settings, folder: Folder) -> Topic | None:
    """The topic of a crawl, if it has one. Raises an error if it cannot be used."""
    if not settings.topic:
        if settings.order == "topic":
            raise UsageError("--order topic needs a topic: add --topic FILE or --topic 'some words'")
        return None
    if settings.topic == folder.topic.name:
        return read(folder.topic)
    if folder.topic.exists() and (kept := read(folder.topic)).name == settings.topic:
        return kept  # it may have learned more than the words
    return topic_named(settings.topic, folder.path)


def topic_named(text: str, place: Path) -> Topic:
    """A topic by the name of its file, looked for from `place` on, or else by words."""
    path = place / text
    if path.is_file():
        return read(path)
    if "/" in text or text.endswith((".topic", ".json", ".html")):
        raise BadTopic(f"{path} does not exist; `sanderling topic {text} EXAMPLE...` makes the model of a topic")
    return of_words(text)


def of_words(text: str) -> Topic:
    """The topic that some words name."""
    from sanderling.topics.training import TYPED_BY_USER, train

    return train(text, [Example(TYPED_BY_USER + text, True, text)])


def keep(topic: Topic | None, folder: Folder) -> None:
    """Writes the topic of a crawl into its folder, unless it is there."""
    if topic is not None and not (folder.topic.exists() and read(folder.topic) == topic):
        write(folder.topic, topic)


def for_clients(topic: Topic | None) -> bytes:
    """What clients need of a topic."""
    return msgspec.json.encode(topic.weights) if topic is not None else b""
