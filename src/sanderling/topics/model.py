"""The model of a topic as one file: JSON that people can read, with what it was made from, so that
it can learn more.

Nothing in it is ever executed. A file is checked when it is read: a damaged file, or one of a newer
version, is refused.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from sanderling.errors import BadTopic
from sanderling.files import write_whole

FORMAT = "sanderling-topic"
# Increase it whenever an older program would misread the file. It would take the first of several
# topics for the only one.
ONE_TOPIC, VERSION = 1, 2
# Between the names of several topics.
BETWEEN = ";"
# More than any model that this program makes.
LARGEST = 64 * 1024**2

Share = Annotated[float, Meta(ge=0, le=1)]


class Example(Struct, frozen=True):
    """A text that is on the topic, or is not."""

    source: str  # where it is from: a URL, a file, or the words that the user typed
    relevant: bool
    text: str  # as much of it as counts
    background: bool = False  # a page at random, most likely not relevant; no person has looked at it
    weight: Annotated[float, Meta(gt=0, le=100)] = 1.0


class Quality(Struct, frozen=True, kw_only=True):
    """How well a model separates its examples, each judged by a model that has not seen it. None:
    cannot be said."""

    examples: int
    counter_examples: int
    background: int = 0
    precision: Share | None = None
    recall: Share | None = None
    wrong: list[tuple[str, float]] = []  # examples that it gets wrong, with their relevance
    for_it: list[str] = []  # the words that decide
    against: list[str] = []
    advice: list[str] = []  # what would make it better


class Weights(Struct, frozen=True, kw_only=True):
    """What judges a text: all that a client needs."""

    words: dict[str, tuple[float, float]]  # how rare a word is, and how much it speaks for the topic
    rarest: float  # how rare a word is that no example has
    bias: float = 0.0
    slope: float = 1.0  # from a score to a relevance
    offset: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.rarest, self.bias, self.slope, self.offset, *(n for pair in self.words.values() for n in pair))
        if not all(map(math.isfinite, numbers)) or self.rarest <= 0:
            raise ValueError("its numbers are not finite")


class Topic(Struct, frozen=True, kw_only=True):
    """A model with all that it was made from."""

    format: str
    version: int
    name: str
    quality: Quality
    weights: Weights
    examples: list[Example]
    others: list["Topic"] = []  # of a crawl with several

    @property
    def all(self) -> list["Topic"]:
        return [self, *self.others]

    @property
    def title(self) -> str:
        """The names of all its topics."""
        return f"{BETWEEN} ".join(each.name for each in self.all)


class _Head(Struct):
    format: str
    version: int


def joined(topics: Sequence[Topic]) -> Topic:
    """Several topics as that of one crawl."""
    first, *others = topics
    if not others:
        return first
    names = [each.name for topic in topics for each in topic.all]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise BadTopic(f"two topics are called {twice!r}: give each a name of its own")
    parts = [msgspec.structs.replace(each, others=[]) for topic in topics for each in topic.all]
    return msgspec.structs.replace(first, version=VERSION, others=parts[1:])


def for_clients(topic: Topic | None) -> bytes:
    """What judges texts: the weights of a topic, or of several by their names."""
    if topic is None:
        return b""
    return msgspec.json.encode([(each.name, each.weights) for each in topic.all] if topic.others else topic.weights)


def write(path: Path, topic: Topic) -> None:
    """Under its name, complete or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(topic), indent=1), b"\n")


def read(path: Path) -> Topic:
    """Raises BadTopic with one sentence and what to do."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadTopic(f"{path} is too large to be the model of a topic")
        data = path.read_bytes()
    except OSError as error:
        raise BadTopic(f"{path} cannot be read: {error.strerror}") from None
    return decode(data, str(path))


def decode(data: bytes, path: str) -> Topic:
    """A model from the contents of its file."""
    try:
        head = msgspec.json.decode(data, type=_Head)
    except msgspec.DecodeError:
        head = _Head("", 0)
    if head.format != FORMAT:
        raise BadTopic(f"{path} is damaged or not the model of a topic; `sanderling topic {path} EXAMPLE...` makes one")
    if head.version > VERSION:
        raise BadTopic(
            f"{path} was made by a newer version of Sanderling: update this one, or make the model again from its examples"
        )
    try:
        return msgspec.json.decode(data, type=Topic)
    except (msgspec.DecodeError, ValueError) as error:
        raise BadTopic(f"{path} is damaged: {error}; make it again from its examples") from None
