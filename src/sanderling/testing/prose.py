"""Sentences for the synthetic web. Word frequencies follow Zipf's law, as in real text."""

from bisect import bisect
from functools import lru_cache
from itertools import accumulate
from random import Random

SENTENCES = 4096
VOCABULARY = 3000


def _listed(text: str) -> list[str]:
    return text.split()


_COMMON = _listed(
    "the of and to in a is that for it was on with as by at from this are be not have or which but their has "
    "they one when can more will been other were all there out about into only some its new over after may "
    "would where each them most such then these between also first two how through many during under because"
)
_ONSETS = _listed("b br c ch cl d dr f fl g gr h j k l m n p pl qu r s sh sl st t th tr v w")
_VOWELS = _listed("a e i o u ai ea ou oo ie")
_CODAS = ["", "l", "n", "r", "s", "t", "m", "nd", "rt", "ck", "st", "ng", "sk"]
_ENDINGS = ["", "", "", "er", "ing", "ed", "ly", "ness", "ment", "al", "age", "s"]


@lru_cache(maxsize=8)
def words(seed: int) -> tuple[str, ...]:
    """The vocabulary, the most frequent word first."""
    rng = Random(f"words/{seed}")
    found = dict.fromkeys(_COMMON)
    while len(found) < VOCABULARY:
        syllables = 1 + (rng.random() < 0.3)
        stem = "".join(_pick(rng, _ONSETS) + _pick(rng, _VOWELS) + _pick(rng, _CODAS) for _ in range(syllables))
        found.setdefault(stem + _pick(rng, _ENDINGS))
    return tuple(found)


@lru_cache(maxsize=64)
def sentences(seed: int, topic: int = -1) -> tuple[str, ...]:
    """A pool of sentences for paragraphs. To choose a sentence is 100 times as fast as to make one.

    In a topic's sentences one word in eight is a word of the topic.
    """
    rng = Random(f"sentences/{seed}" if topic < 0 else f"sentences/{seed}/{topic}")
    about = topic_words(seed, topic) if topic >= 0 else ()
    vocabulary = words(seed)
    weights = list(accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))
    pool = []
    for _ in range(SENTENCES):
        length = 6 + int(rng.random() * 12)
        chosen = [vocabulary[bisect(weights, rng.random() * weights[-1])] for _ in range(length)]
        if about:
            chosen = [_pick(rng, [*about]) if rng.random() < 0.125 else word for word in chosen]
        if length > 12:
            chosen[length // 2] += ","
        pool.append(" ".join(chosen).capitalize() + ".")
    return tuple(pool)


@lru_cache(maxsize=64)
def topic_words(seed: int, topic: int) -> tuple[str, ...]:
    """The words of a topic: rare ones of the vocabulary, which other topics share only by
    chance."""
    rng = Random(f"topic/{seed}/{topic}")
    return tuple(rng.sample([word for word in words(seed)[1000:] if len(word) > 4], 40))


@lru_cache(maxsize=8)
def nouns(seed: int) -> tuple[str, ...]:
    """256 words for titles, anchors and paths."""
    return tuple(word for word in words(seed)[len(_COMMON) :] if len(word) > 4)[:256]


def _pick(rng: Random, choices: list[str]) -> str:
    return choices[int(rng.random() * len(choices))]
