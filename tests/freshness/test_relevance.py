"""In a focused crawl a refresh counts a page by its relevance."""

import numpy as np

from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.evidence import NONE


def weights(relevance: list[float]) -> list[float]:
    pages = np.zeros(len(relevance), COLUMNS)
    pages["id"], pages["relevance"], pages["there"] = np.arange(len(relevance)), relevance, True
    pages["at"], pages["since"], pages["evidence"] = 9.0, 1.0, NONE
    return [round(float(each), 3) for each in believe(pages, {}, 10.0).weight]


def test_a_page_counts_by_its_relevance() -> None:
    likely, hardly, never = weights([0.9, 0.3, 0.0])
    assert round(likely / hardly, 2) == 3.0
    assert 0 < never < hardly


def test_without_a_topic_all_pages_count_alike() -> None:
    assert weights([0.0, 0.0]) == [1.0, 1.0]
