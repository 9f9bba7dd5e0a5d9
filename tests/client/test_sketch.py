"""Sketches of texts: which must be equal, which similar and which different."""

from itertools import pairwise
from random import Random

from sanderling.client.sketch import sketch
from sanderling.testing.prose import sentences

MASK = (1 << 64) - 1


def bits(one: str, two: str) -> int:
    return ((sketch(one).simhash ^ sketch(two).simhash) & MASK).bit_count()


def text(seed: int, count: int = 60) -> str:
    return "\n".join(Random(seed).sample(sentences(0), count))


def test_sketches_stay_what_they_are() -> None:
    """These values are stored in crawl folders, so they must not change."""
    found = sketch("High water at 06:41. Low water at 12:50.", "http://e.org/high")
    assert found.digest.hex() == "d0aa34a69213ab3d0a7774dc6d1ac5ac"
    assert found[1:] == (4174055377794827152, -3817874187185901588, -3241328188111213696)


def test_numbers_do_not_matter() -> None:
    one, two = sketch("17 May 2024\n\nMo Tu\n1 2 3 4"), sketch("9 May 1999\nMo Tu\n\n1 2")
    assert one.gist == two.gist
    assert one.digest != two.digest
    assert sketch("17 May 2024").gist != sketch("17 June 2024").gist


def test_nothing_is_told_of_no_text() -> None:
    assert sketch("")[1:] == sketch(" \n 12")[1:] == (0, 0, 0)
    assert sketch("\ud800 lone")[1] != 0
    assert sketch("漢字" * 5000).simhash != 0


def test_a_few_words_make_a_near_duplicate_and_other_texts_are_far() -> None:
    distances = []
    for seed in range(50):
        words = text(seed).split(" ")
        words[Random(seed).randrange(len(words))] = "zebra"
        distances.append(bits(text(seed), " ".join(words)))
    assert sorted(distances)[45] <= 3
    others = sorted(bits(text(seed), text(seed + 1000)) for seed in range(50))
    assert others[0] > 10


def test_a_word_that_is_said_all_the_time_makes_no_near_duplicates() -> None:
    """Labels of buttons and of columns."""
    words = " ".join(sentences(0)).split(" ")
    pages = [" ".join(Random(seed).sample(words, 60)) + " Reply" * 40 for seed in range(51)]
    assert min(bits(one, two) for one, two in pairwise(pages)) > 10


def test_long_texts_are_compared_by_their_parts() -> None:
    assert bits(text(1, 4000), text(2, 4000)) > 10
    assert bits(text(1, 4000), text(1, 4000) + " zebra") <= 5


def test_the_core_leaves_out_what_the_url_says() -> None:
    one = sketch("Welcome to xkqzj.trap.test, 12 friends", "http://xkqzj.trap.test/")
    two = sketch("Welcome to n0abab.trap.test, 7 friends", "http://n0abab.trap.test/")
    assert one.core == two.core
    three, four = (sketch(f"No page 7f{n}a15 here", f"http://e.org/lost/7f{n}a15") for n in ("c", "de"))
    assert three.core == four.core
    assert one.gist != two.gist
    assert sketch("Welcome to all", "http://e.org/").core != sketch("Welcome to some", "http://e.org/").core
