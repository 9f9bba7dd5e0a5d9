"""Which word is asked for next."""

from sanderling.forms.words import MOST_TEXTS, Vocabulary

NONE: frozenset[str] = frozenset()


def test_words_of_a_first_answer_are_worth_a_query() -> None:
    vocabulary = Vocabulary()
    for id in range(6):
        vocabulary.add_record(id, ["tern", "shore"], 1)
    word, new = vocabulary.best(NONE, 100.0, 50, 10)
    assert word in ("tern", "shore") and new > 0


def test_words_of_records_that_one_query_found_come_first() -> None:
    """Both words are on ten records. Those with "knot" were found by two queries each."""
    vocabulary = Vocabulary()
    for id in range(10):
        vocabulary.add_record(id, ["knot"], 1)
        vocabulary.add_record(100 + id, ["ruff"], 2)
        vocabulary.add_record(200 + id, ["other"], 3 + id)
    vocabulary.add_record(300, ["ruff"], 4)
    vocabulary.add_record(301, ["knot"], 4)
    for id in range(10):
        vocabulary.found_again(id)
    vocabulary.found_again(301)
    assert vocabulary.best({"other"}, 100.0, 50, 10).word == "ruff"
    assert not any(vocabulary.words["knot"].values())


def test_the_query_that_a_word_is_most_common_with_is_left_out() -> None:
    """All 20 of one query have "dunlin", which was harvested with it; 6 of 20 others have
    "plover"."""
    vocabulary = Vocabulary()
    for id in range(20):
        vocabulary.add_record(id, ["dunlin"], 1)
        vocabulary.add_record(100 + id, ["plover"] if id % 3 == 0 else ["sand"], 2 + id % 4)
    word, new = vocabulary.best({"sand"}, 100.0, 50, 10)
    assert word == "plover" and 10 < new < 40


def test_no_more_texts_are_kept_than_the_limit() -> None:
    vocabulary = Vocabulary()
    for id in range(3 * MOST_TEXTS):
        vocabulary.add_record(id * 2654435761, ["gull", f"word{id}"], 1 + id % 7)
    assert len(vocabulary.texts) <= MOST_TEXTS
    assert vocabulary.records == 3 * MOST_TEXTS
    assert sum(vocabulary.once.values()) == len(vocabulary.texts) == sum(vocabulary.words["gull"].values())
