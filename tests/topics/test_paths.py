"""What kinds of links have led to the topic."""

from lab import focus, topical
from sanderling.topics.paths import PathModel, kinds_of

ROOT, FACULTY, LIST, PAPER = range(1, 5)


def walked() -> PathModel:
    """One site was visited, on which the topic lies behind the faculty list."""
    model = PathModel(0.5)
    model.visited(ROOT, 0.1)
    for id, via, name in (
        (FACULTY, ROOT, "Faculty"),
        (9, ROOT, "News"),
        (LIST, FACULTY, "Papers"),
        (PAPER, LIST, "On dunlins"),
    ):
        model.met(id, via, f"http://a.test/one/{name.lower().replace(' ', '-')}", name)
    for id, relevance in ((FACULTY, 0.0), (9, 0.0), (LIST, 0.0), (PAPER, 1.0)):
        model.visited(id, relevance)
    return model


def test_links_that_led_to_the_topic_come_first_on_other_sites() -> None:
    model = walked()
    for id, name in ((20, "Faculty"), (21, "News"), (22, "Papers"), (23, "Sports")):
        model.met(id, ROOT, f"http://b.test/two/{name.lower()}", name)
    papers, faculty, other, news = (model.ranked(id, 0.1) for id in (22, 20, 23, 21))
    assert papers > faculty > news
    assert other > news


def test_a_link_that_is_visited_or_forgotten_waits_no_longer() -> None:
    model = walked()
    model.met(20, ROOT, "http://b.test/faculty", "Faculty")
    assert model.next(5) == [20]
    assert model.ranked(20, 0.1) != 0.1
    model.forget(20)
    assert (model.next(5), model.ranked(20, 0.1)) == ([], 0.1)


def test_links_that_wait_are_given_out_in_turn() -> None:
    model = PathModel(0.5)
    for id in range(5):
        model.met(id, 9, f"http://a.test/{id}", "")
    assert [model.next(3), model.next(3)] == [[0, 1, 2], [3, 4, 0]]


def test_the_same_link_of_another_site_is_of_the_same_kinds() -> None:
    here, there = (kinds_of(f"http://{host}.test/u7/papers/3.html", "Papers 2025", ()) for host in "ab")
    assert here == there
    assert set(here) & set(kinds_of("http://c.test/u8/papers/4.html", "Papers 2026", ())) == set(here)


def test_a_topic_behind_the_same_links_everywhere_is_found_soon() -> None:
    """Breadth-first finds a page or two of 160 with 400 of the 1,721 pages."""
    web = topical.of_universities(0)
    visits = focus.FocusedCrawl(web, 0, 3).run(400)
    assert web.truth[visits].sum() >= 120
    assert web.truth[focus.breadth_first(web, 0)[:400]].sum() < 10
