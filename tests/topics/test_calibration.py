"""What relevance means: of the pages with a relevance of 0.7, about 70 % are on the topic."""

import numpy as np
import pytest

from sanderling.documents.html import HtmlPage
from sanderling.testing import SyntheticWeb
from sanderling.topics.judging import Judge
from sanderling.topics.model import Example
from sanderling.topics.training import train


def judged(seed: int, size: int) -> tuple[list[float], list[bool]]:
    """The relevance of pages that a model has not seen, and whether they are on its topic."""
    web = SyntheticWeb(pages=400, seed=seed, links=8, size=size, topics=5, locality=0.5, vanish=0.0, appear=0.0)
    urls = sorted(web.pages_at(0.0))
    read = {url: HtmlPage(web.body(url, 0.0), "utf-8", url) for url in urls}
    mine = [url for url in urls if web.topic(url) == 2][::4][:20]
    others = [url for url in urls if web.topic(url) != 2][::5][:60]
    topic = train("two", [Example(url, url in mine, read[url].text()) for url in (*mine, *others)])
    judge = Judge(topic.weights)
    held_out = [url for url in urls if url not in {*mine, *others}]
    told = [judge.page(read[url].title(), *read[url].text_and_links()) for url in held_out]
    return told, [web.topic(url) == 2 for url in held_out]


@pytest.mark.parametrize(("size", "brier"), [(150, 0.04), (1200, 0.01)])
def test_relevance_is_calibrated_on_pages_that_the_model_has_not_seen(size: int, brier: float) -> None:
    """Pages of 150 characters are hard to judge; those of 1,200 are not. Says nothing: 0.16."""
    webs = [judged(seed, size) for seed in (1, 2, 3)]
    told, true = np.concatenate([each for each, _ in webs]), np.concatenate([each for _, each in webs])
    assert float(((told - true) ** 2).mean()) < brier
    shares = []
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        here = (told >= low) & (told < high)
        if here.sum() >= 30:
            shares.append(float(true[here].mean()))
            # It is careful: pages in the middle are on the topic more often than it says.
            assert low - 0.1 < shares[-1] < high + 0.2
    assert shares == sorted(shares)
    assert shares[0] < 0.05
    assert shares[-1] > 0.95
