"""Makes the model of a topic from examples: logistic regression on the words of each, and what it
is worth.

Every text becomes a vector of length 1 with an entry for each of its words, larger for words that
are rare among the examples (tf-idf). There are far fewer examples than words, so the regression is
solved in the space of the examples. Each example is then judged by a model that was made without
it. From these judgements come the precision and recall that are reported, and the curve that turns
scores into relevances from 0 to 1.

Without counter-examples there is nothing to separate. Then the score is the likeness to the mean of
the examples.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.errors import BadTopic
from sanderling.topics import words
from sanderling.topics.model import FORMAT, ONE_TOPIC, Example, Quality, Topic, Weights

# How strongly large weights are avoided. From 0.03 to 0.3 the figures hardly differ.
RIDGE = 0.1
FOLDS = 5
# With fewer texts, words that stand in only one of them are all there is.
FEW = 12
# A page at random may be on the topic, so it counts less than a counter-example that somebody
# chose.
BACKGROUND = 0.5
# Words that are named in a report.
NAMED = 12
# The likeness at which a text is as likely relevant as not, if it cannot be learned: to words that
# the user typed, and to a single example. A page of 4,000 characters that names one of two words
# three times has a likeness of 0.09. The more words the user lists, the fewer of them a page has to
# name.
TYPED, SINGLE, LISTED = 0.1, 0.12, 2
# Below this, precision and recall say that the model does not separate.
POOR = 0.6

Matrix = NDArray[np.float64]


def train(name: str, given: Sequence[Example]) -> Topic:
    """A model of what is relevant among the examples. Raises BadTopic when they are too few or
    contradict each other."""
    examples = _distinct([_cut(each) for each in given])
    relevant = [each for each in examples if each.relevant]
    others = [each for each in examples if not each.relevant]
    if not relevant:
        raise BadTopic("a topic needs at least one example that has text: name a page, a file, or words with --words")
    counts = [words.counted(each.text) for each in examples]
    if not any(counts[n] for n, each in enumerate(examples) if each.relevant):
        raise BadTopic("the examples have no words: a topic is learned from text")
    rarity = _rarity(counts) if others else {word: _plain(word) for found in counts for word in found}
    rarest = math.log(1 + len(counts)) + 1 if others else 1.0
    listed = _vocabulary(counts, len(examples))
    vectors = _vectors(counts, listed, rarity)
    if others:
        weights, quality = _separate(examples, vectors, listed, rarity, rarest)
    else:
        weights, quality = _resemble(examples, vectors, listed, rarity, rarest)
    return Topic(format=FORMAT, version=ONE_TOPIC, name=name, quality=quality, weights=weights, examples=examples)


def _cut(example: Example) -> Example:
    return Example(
        example.source, example.relevant, example.text[: words.LENGTH], example.background, example.weight
    )  # fmt: skip


def _distinct(examples: Sequence[Example]) -> list[Example]:
    """Each source once, as it was given last; a page at random yields to what somebody said of
    it."""
    found: dict[str, Example] = {}
    for each in sorted(examples, key=lambda example: not example.background):
        found[each.source] = each
    for text in {e.text for e in found.values() if e.relevant} & {e.text for e in found.values() if not e.relevant}:
        both = [each for each in found.values() if each.text == text]
        if not all(each.background or each.relevant for each in both):
            raise BadTopic(
                f"{both[0].source} and {both[-1].source} have the same text, and one is an example and the other a "
                "counter-example: take one of them out"
            )
        found = {source: each for source, each in found.items() if each.text != text or each.relevant}
    return list(found.values())


def _plain(word: str) -> float:
    """How rare a word is taken to be when there is nothing to compare with."""
    return 0.1 if word in words.COMMON else 1.0


def _rarity(counts: Sequence[dict[str, int]]) -> dict[str, float]:
    among: dict[str, int] = {}
    for found in counts:
        for word in found:
            among[word] = among.get(word, 0) + 1
    return {word: math.log((1 + len(counts)) / (1 + n)) + 1 for word, n in among.items()}


def _vocabulary(counts: Sequence[dict[str, int]], texts: int) -> dict[str, int]:
    among: dict[str, int] = {}
    for found in counts:
        for word in found:
            among[word] = among.get(word, 0) + 1
    least = 1 if texts < FEW else 2
    return {word: n for n, word in enumerate(sorted(w for w, found in among.items() if found >= least))}


def _vectors(counts: Sequence[dict[str, int]], listed: dict[str, int], rarity: dict[str, float]) -> Matrix:
    found = np.zeros((len(counts), len(listed)))
    for row, text in enumerate(counts):
        values = {word: (1 + math.log(n)) * rarity[word] for word, n in text.items()}
        length = math.sqrt(sum(value * value for value in values.values())) or 1.0
        for word, value in values.items():
            if word in listed:
                found[row, listed[word]] = value / length
    return found


# ---- with counter-examples


def _separate(
    examples: list[Example], vectors: Matrix, listed: dict[str, int], rarity: dict[str, float], rarest: float
) -> tuple[Weights, Quality]:
    wanted = np.array([each.relevant for each in examples])
    counts = _balanced(examples, wanted)
    kernel = vectors @ vectors.T
    np.fill_diagonal(kernel, 1.0)
    folds = _folds(wanted)
    scores = np.zeros(len(wanted))
    for fold in range(folds):
        held = _fold_of(wanted, folds) == fold
        alpha, bias = _fit(kernel[np.ix_(~held, ~held)], wanted[~held], counts[~held])
        scores[held] = kernel[np.ix_(held, ~held)] @ alpha + bias
    alpha, bias = _fit(kernel, wanted, counts)
    if folds < 2:
        scores = kernel @ alpha + bias
    slope, offset = _calibrated(scores, wanted)
    direction = vectors.T @ alpha
    weights = Weights(
        words=_worth_keeping(listed, rarity, direction), rarest=rarest, bias=bias, slope=slope, offset=offset
    )
    likely = 1 / (1 + np.exp(-(slope * scores + offset)))
    return weights, _quality(examples, wanted, likely if folds >= 2 else None, _deciding(listed, rarity, direction))


def _balanced(examples: list[Example], wanted: NDArray[np.bool_]) -> Floats:
    """What each example counts: both sides count the same in all."""
    counts = np.array([each.weight * (BACKGROUND if each.background else 1.0) for each in examples])
    for side in (wanted, ~wanted):
        counts[side] *= len(counts) / 2 / counts[side].sum()
    return counts


def _folds(wanted: NDArray[np.bool_]) -> int:
    fewest = int(min(wanted.sum(), (~wanted).sum()))
    return min(FOLDS, fewest) if fewest >= 2 else 0


def _fold_of(wanted: NDArray[np.bool_], folds: int) -> NDArray[np.int64]:
    """Deals the examples of each side out in turn."""
    found = np.zeros(len(wanted), np.int64)
    for side in (wanted, ~wanted):
        found[side] = np.arange(int(side.sum())) % folds
    return found


def _fit(kernel: Matrix, wanted: NDArray[np.bool_], counts: Floats) -> tuple[Floats, float]:
    """Logistic regression by Newton's method, in the space of the examples; the bias is not held
    down."""
    n = len(wanted)
    alpha, bias = np.zeros(n), 0.0
    target = wanted.astype(np.float64)
    for _ in range(15):
        score = kernel @ alpha + bias
        likely = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
        bend = np.maximum(counts * likely * (1 - likely), 1e-6)
        aim = score + counts * (target - likely) / bend
        # (K + RIDGE / bend) alpha + bias = aim, and the alphas add up to 0
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = kernel + np.diag(RIDGE / bend)
        system[:n, n] = system[n, :n] = 1.0
        found = np.linalg.solve(system, np.append(aim, 0.0))
        moved = float(np.abs(found[:n] - alpha).max())
        alpha, bias = found[:n], float(found[n])
        if moved < 1e-4:
            break
    return alpha, bias


def _calibrated(scores: Floats, wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's curve from scores to probabilities; few examples give a gentle one. Pages at random
    say how rare the topic is."""
    many, few = float(wanted.sum()), float((~wanted).sum())
    target = np.where(wanted, (many + 0.5) / (many + 1), 0.5 / (few + 1))
    slope, offset = 1.0, 0.0
    for _ in range(50):
        likely = 1 / (1 + np.exp(-np.clip(slope * scores + offset, -30, 30)))
        error, bend = likely - target, np.maximum(likely * (1 - likely), 1e-9)
        gradient = np.array([(error * scores).sum() + 1e-3 * slope, error.sum()])
        hessian = np.array(
            [[(bend * scores * scores).sum() + 1e-3, (bend * scores).sum()], [(bend * scores).sum(), bend.sum() + 1e-9]]
        )
        step = np.linalg.solve(hessian, gradient)
        slope, offset = slope - float(np.clip(step[0], -2, 2)), offset - float(np.clip(step[1], -2, 2))
        if float(np.abs(step).max()) < 1e-7:
            break
    # A curve that falls would call what is like the examples irrelevant: then the scores say
    # nothing, and nearly so does it.
    return max(slope, 0.05), offset


# ---- without


def _resemble(
    examples: list[Example], vectors: Matrix, listed: dict[str, int], rarity: dict[str, float], rarest: float
) -> tuple[Weights, Quality]:
    counts = np.array([each.weight for each in examples])
    total = counts @ vectors
    centre = total / (np.linalg.norm(total) or 1.0)
    typed = all(each.source.startswith(TYPED_BY_USER) for each in examples)
    if len(examples) > 1 and not typed:
        left = [total - count * row for count, row in zip(counts, vectors, strict=True)]
        alike = float(
            np.median([row @ each / (np.linalg.norm(each) or 1.0) for row, each in zip(vectors, left, strict=True)])
        )
        # As a page like most of the examples has 0.8. On documentation a lower middle let in ten
        # times as many others.
        middle, slope = max(0.75 * alike, 0.03), math.log(4) / max(0.25 * alike, 0.01)
    else:
        many = sum(word not in words.COMMON for word in listed)
        middle = TYPED * min(1.0, math.sqrt(LISTED / max(1, many))) if typed else SINGLE
        slope = math.log(9) / middle  # twice the middle is 0.9
    weights = Weights(words=_worth_keeping(listed, rarity, centre), rarest=rarest, slope=slope, offset=-slope * middle)
    wanted = np.ones(len(examples), np.bool_)
    return weights, _quality(examples, wanted, None, _deciding(listed, rarity, centre))


# How the source of an example begins that is only words.
TYPED_BY_USER = "words: "


# ---- what is kept, and what is reported


def _worth_keeping(
    listed: dict[str, int], rarity: dict[str, float], direction: Floats
) -> dict[str, tuple[float, float]]:
    """Words with a weight; one that hardly has any only counts for the length of a text, and so
    does one not listed."""
    least = 1e-3 * float(np.abs(direction).max() or 1.0)
    return {
        word: (round(rarity[word], 4), round(float(direction[n]), 5))
        for word, n in listed.items()
        if abs(direction[n]) >= least
    }


def _deciding(listed: dict[str, int], rarity: dict[str, float], direction: Floats) -> tuple[list[str], list[str]]:
    strength = {word: rarity[word] * float(direction[n]) for word, n in listed.items() if word not in words.COMMON}
    ordered = sorted(strength, key=strength.__getitem__)
    return (
        [word for word in reversed(ordered[-NAMED:]) if strength[word] > 0],
        [word for word in ordered[:NAMED] if strength[word] < 0],
    )


def _quality(
    examples: list[Example], wanted: NDArray[np.bool_], likely: Floats | None, deciding: tuple[list[str], list[str]]
) -> Quality:
    background = np.array([each.background for each in examples])
    precision = recall = None
    wrong: list[tuple[str, float]] = []
    advice = []
    if likely is not None:
        right = int((wanted & (likely >= 0.5)).sum())
        taken = int((likely >= 0.5).sum())
        precision, recall = round(right / taken, 3) if taken else 0.0, round(right / int(wanted.sum()), 3)
        wrong = [
            (examples[n].source, round(float(likely[n]), 2))
            for n in np.argsort(-np.abs(likely - wanted), kind="stable").tolist()
            if (likely[n] >= 0.5) != wanted[n]
        ][:10]
        if min(precision, recall) < POOR:
            advice.append(
                "the model does not separate its examples: the topic is too wide or too narrow for them; give more "
                "examples that are alike, and counter-examples that are close to them"
            )
    chosen = int((wanted & ~background).sum())
    if not (~wanted).any():
        advice.append(
            "without counter-examples nobody can say how precise the model is: give some with --not, or train it again "
            "with pages of a crawl (`sanderling topic DIR`)"
        )
    if chosen < 5:
        advice.append(f"{chosen} example{'s' * (chosen != 1)}: five or more make a better model, and 20 a good one")
    return Quality(
        examples=chosen, counter_examples=int((~wanted & ~background).sum()), background=int((~wanted & background).sum()),
        precision=precision, recall=recall, wrong=wrong, for_it=deciding[0], against=deciding[1], advice=advice,
    )  # fmt: skip
