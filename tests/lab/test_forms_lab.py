"""The experiment with forms: the strategy of crawls beats the others, and its estimate is near the
truth."""

from lab.forms import STRATEGIES, DatabaseForm, HiddenDatabase, harmful, templates, texts


def test_ours_needs_far_fewer_queries_than_the_most_frequent_word_first() -> None:
    setting = HiddenDatabase("small", 600, 30, 30)
    engine = DatabaseForm(texts(setting.records, 1), 1)
    courses = {name: STRATEGIES[name](engine, setting, 80) for name in ("oracle", "ours", "frequent", "random")}
    reached = {name: course.reached[min(50, len(course.reached)) - 1] for name, course in courses.items()}
    assert reached["oracle"] > reached["ours"] > 1.25 * max(reached["frequent"], reached["random"])
    assert courses["ours"].wasted < 0.2 * len(courses["ours"].reached)


def test_three_selects_are_not_multiplied() -> None:
    found, records, queries = templates(10)
    assert found >= 0.9 * records and queries < 0.3 * 10**3


def test_forms_that_must_not_be_sent_get_no_request() -> None:
    assert harmful() == (0, 8)
