"""The next word for a form."""

from sanderling.forms.words import expected


def test_words_of_a_first_answer_are_worth_a_query() -> None:
    """One query found all known records. A word that two of 15 contain may be in others."""
    assert expected({1: 2}, {1: 15}, read=15, unseen=45, shown=100, per_page=20) > 0
