"""The topic of a crawl: the model in its folder, or one that is made from words."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.errors import BadTopic, UsageError
from sanderling.files import write_whole
from sanderling.repository.folder import Folder
from sanderling.repository.store import JudgedStore
from sanderling.settings import BY_TOPIC, Settings

if TYPE_CHECKING:  # loaded only by crawls with a topic
    from sanderling.topics.model import Topic

# Why the model of several topics is not trained further.
SEVERAL = (
    "this crawl has several topics: train the model of each in a file of its own, and name all of them with --topic"
)
# Of a crawl that is started in the dashboard.
MOST_EXAMPLES = 200


def topic_of(settings: Settings, folder: Folder) -> "Topic | None":
    """The topic of a crawl, if it has one. Raises an error if it cannot be used."""
    if not settings.topic:
        if settings.order in BY_TOPIC:
            raise UsageError(f"--order {settings.order} needs a topic: add --topic FILE or --topic 'some words'")
        if settings.cut_short:
            raise UsageError("--cut-short needs a topic: add --topic FILE or --topic 'some words'")
        return None
    from sanderling.topics.model import read

    if settings.topic == folder.topic.name:
        return read(folder.topic)
    if settings.topic == folder.examples.name:
        return read(folder.topic) if folder.topic.exists() else of_examples(folder, settings)
    if folder.topic.exists() and (kept := read(folder.topic)).title == settings.topic:
        return kept  # it may have learned more than the words
    return topic_named(settings.topic, folder.path)


def topic_named(text: str, place: Path) -> "Topic":
    """A topic by the name of its file, looked for from `place` on, or else by words."""
    path = place / text
    if path.is_file():
        from sanderling.topics.model import read

        return read(path)
    if len(several := names_in(text)) > 1:
        from sanderling.topics.model import joined

        return joined([topic_named(each, place) for each in several])
    if "/" in text or text.endswith((".topic", ".json", ".html")):
        raise BadTopic(f"{path} does not exist; `sanderling topic {text} EXAMPLE...` makes the model of a topic")
    return of_words(text)


def names_in(text: str) -> list[str]:
    """The topics that a setting names, one or several."""
    return [name for each in re.split(r"[;\n]", text) if (name := each.strip())]


def of_words(text: str) -> "Topic":
    """The topic that some words name."""
    from sanderling.topics.model import Example
    from sanderling.topics.training import TYPED_BY_USER, train

    return train(text, [Example(TYPED_BY_USER + text, True, text)])


def write_examples(folder: Folder, words: str, examples: str) -> None:
    """Leaves the examples of a topic in a new folder. The crawl learns from them when it starts."""
    lines = [f"# {words}"] * bool(words) + example_urls(examples)
    write_whole(folder.examples, "\n".join(lines).encode(), b"\n")


def is_model(examples: str) -> bool:
    """Whether these are the contents of a model, and not examples."""
    return examples.lstrip().startswith("{")


def uploaded(model: str) -> "Topic":
    """A model from the contents of its file."""
    from sanderling.topics.model import decode

    try:
        return decode(model.encode(), "the file")
    except BadTopic:
        raise BadTopic("the examples are no model that `sanderling topic` of this version can read") from None


def example_urls(examples: str) -> list[str]:
    """The addresses of examples: one a line, or in a browser's bookmarks."""
    from sanderling.server.frontier.scope import canonical_seed
    from sanderling.server.topic.bookmarks import bookmarks_in, is_bookmarks

    if is_bookmarks(examples):
        found = [each.url for each in bookmarks_in(examples)]
    else:
        found = [canonical_seed(line) for line in examples.splitlines() if line.strip() and not line.startswith("#")]
    if not found:
        raise BadTopic("the examples name no address")
    return found[:MOST_EXAMPLES]


def of_examples(folder: Folder, settings: Settings) -> "Topic":
    """Learns a topic from the examples that were left in a folder."""
    from sanderling.server.topic.examples import fetched
    from sanderling.topics.model import Example
    from sanderling.topics.training import TYPED_BY_USER, train

    text = folder.examples.read_text("utf-8")
    words = text.partition("\n")[0].removeprefix("#").strip() if text.startswith("#") else ""
    given = [Example(TYPED_BY_USER + words, True, words)] * bool(words)
    pages = fetched(example_urls(text), lambda line: None, private=settings.private_seeds)
    return train(words or folder.path.name, [*given, *(Example(url, True, page) for url, page in pages)])


def keep(topic: "Topic | None", folder: Folder) -> None:
    """Writes the topic of a crawl into its folder, unless it is there."""
    if topic is None:
        return
    from sanderling.topics.model import read, write

    if not (folder.topic.exists() and read(folder.topic) == topic):
        write(folder.topic, topic)


def judge_stored(store: JudgedStore, folder: Folder, settings: Settings, topic: "Topic | None") -> list[str]:
    """Judges what is stored by this topic if another one has judged it; returns what the user
    should know."""
    if topic is None:
        return []
    from sanderling.server.topic import rejudging

    return rejudging.begin(store, folder, settings, topic)


def for_clients(topic: "Topic | None") -> bytes:
    """What clients need of a topic."""
    if topic is None:
        return b""
    from sanderling.topics import model

    return model.for_clients(topic)


def pages_by_topic(folder: Folder) -> dict[str, int]:
    """How many pages a crawl of several topics has of each; empty with one topic or none."""
    if not folder.topic.exists():
        return {}
    from sanderling.repository.opening import reading, settings_for
    from sanderling.server.topic.harvest import by_topic
    from sanderling.topics.model import read

    with reading(folder.path) as (_, store):
        return by_topic(store, read(folder.topic), settings_for(folder, {})[0].relatedness)
