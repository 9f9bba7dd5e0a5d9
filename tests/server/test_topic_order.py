"""The order of a focused crawl: parts, learning, credit, and hosts that only promise."""

import numpy as np
import pytest

from sanderling.graph import pack
from sanderling.model import State
from sanderling.server.ranking.focus import Focus
from sanderling.server.ranking.order import Snapshot
from sanderling.server.ranking.orders import scores, topic

F, Q = State.FETCHED, State.QUEUED


def known(states: list[State], links: dict[int, list[int]], relevance: list[float], words: list[float], host: list[int]) -> Snapshot:  # fmt: skip
    count = len(states)
    packed = [(page, np.array(links[page], np.int64).tobytes()) for page in sorted(links)]
    depth = np.array([0, *[1] * (count - 1)], np.int32)
    return Snapshot(
        pack(np.arange(count), packed), depth, np.array(states, np.int8), np.array(host), np.ones(count, np.int64),
        np.zeros(count), np.array(relevance), np.array(words),
    )  # fmt: skip


def test_more_and_better_pages_that_link_to_a_url_raise_it() -> None:
    # 0 and 1 are relevant, 2 is not. 3 is linked from both, 4 from one of them, 5 from the other
    # page.
    one = known([F, F, F, Q, Q, Q], {0: [3, 4], 1: [3], 2: [5]}, [0.9, 0.9, 0.1, 0, 0, 0], [0.2] * 6, [1] * 6)
    score = topic.score(one)
    assert score[3] > score[4] > score[5]


def test_the_words_of_a_link_count() -> None:
    one = known([F, Q, Q], {0: [1, 2]}, [0.9, 0, 0], [0.0, 0.6, 0.1], [1, 1, 1])
    assert topic.score(one)[1] > topic.score(one)[2]


def test_a_page_gets_credit_for_what_lies_behind_it() -> None:
    chain = known([F, F, F], {0: [1], 1: [2]}, [0.05, 0.1, 1.0], [0.0] * 3, [1] * 3)
    assert topic.credit(chain).tolist() == [0.05, 0.2, 1.0]  # two steps back a share of a share is less than its own


def test_weights_follow_what_was_fetched() -> None:
    """Words say everything here and pages that link nothing: their weight grows."""
    count = 200
    truth = np.arange(count + 1) % 2 == 0
    one = known(
        [F] * (count + 1), {0: list(range(1, count + 1))}, [0.5, *np.where(truth[1:], 0.9, 0.1)],
        [0.0, *np.where(truth[1:], 0.6, 0.1)], [1] * (count + 1),
    )  # fmt: skip
    _, weights = topic.learned(one)
    assert weights[0] > topic.FIRST_WEIGHTS[0]


def test_a_farm_whose_links_promise_the_topic_does_not_hold_the_crawl() -> None:
    """Host 2 has brought 40 pages that are not relevant. Its links have perfect words, those of
    host 1 have none.
    """
    farm, honest = 40, 10
    states = [F, *[F] * farm, *[F] * honest, Q, Q]
    relevance = [0.9, *[0.02] * farm, *[0.8] * honest, 0, 0]
    words = [0.0, *[0.9] * farm, *[0.3] * honest, 0.9, 0.3]
    host = [1, *[2] * farm, *[1] * honest, 2, 1]
    bait, link = farm + honest + 1, farm + honest + 2
    links = {0: [bait, link], **{n: [bait] for n in range(1, farm + 1)}}
    score = topic.score(known(states, links, relevance, words, host))
    assert score[link] > 2 * score[bait]
    focus = Focus(0.5)
    for _ in range(farm):
        focus.see(2, 0.02)
    for _ in range(honest):
        focus.see(1, 0.8)
    assert focus.rank(0.3, 0.5, 0.5, 1) > 2 * focus.rank(0.9, 0.5, 0.5, 2)


def test_the_server_and_the_job_rank_a_link_alike() -> None:
    """One page links to URLs with words from hopeless to perfect."""
    words = [0.0, 1e-4, 0.02, 0.15, 0.4, 0.5, 0.9, 1.0]
    one = known(
        [F, *[Q] * len(words)], {0: [*range(1, len(words) + 1)]}, [0.7, *[0.0] * len(words)], [0.0, *words], [1] * 9
    )
    by_job = topic.with_weights(one)[1:]
    focus = Focus(0.5)
    focus.see(1, 0.7)
    assert [focus.rank(each, 0.7, 0.7, 1) for each in words] == pytest.approx(by_job.tolist())
    assert list(by_job) == sorted(by_job)


def test_fish_and_shark_search() -> None:
    """From the seed 0: page 1 is on the topic, 2 is not. 3 is a link of 1, 4 one of 2, and 5 to 7
    are ever farther behind pages that are not."""
    links = {0: [1, 2], 1: [3], 2: [4, 5], 5: [6], 6: [7], 7: [8]}
    states = [F, F, F, Q, Q, F, F, F, Q]
    relevance = [0.9, 0.8, 0.1, 0, 0, 0.1, 0.1, 0.1, 0]
    words = [0.0, 0.0, 0.0, 0.2, 0.6, 0.0, 0.0, 0.0, 0.0]
    one = known(states, links, relevance, words, [1] * 9)
    fish, shark = scores("fish-search", one), scores("shark-search", one)
    assert fish[[3, 4, 6, 7, 8]].tolist() == [2, 1, 0, 0, -1]
    # Half of what the page 1 passes on, and half of what the link says.
    assert shark[3] == pytest.approx(0.5 * 0.5 * 0.8 + 0.5 * (0.8 * 0.2 + 0.2))
    # Page 2 is not on the topic, so it passes on what it inherited from the seed.
    assert shark[4] == pytest.approx(0.5 * 0.25 * 0.9 + 0.5 * (0.8 * 0.6 + 0.2))
    assert shark[3] > shark[8] > 0
