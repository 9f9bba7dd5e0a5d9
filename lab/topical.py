"""Webs with topics for simulated focused crawls: what each page is about, and what a model says of
pages and links."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab import webs
from lab.sections import SECTIONS, Documentation, JudgedText, pages_of, told
from lab.universities import universities
from sanderling.arrays import Floats
from sanderling.documents.html import HtmlPage
from sanderling.testing import SyntheticWeb
from sanderling.topics.judging import Judge
from sanderling.topics.model import Example
from sanderling.topics.training import train

EXAMPLES, COUNTER_EXAMPLES = 20, 60


class TopicalWeb(NamedTuple):
    """A web, and a topic as a model that has seen a few examples sees it."""

    web: webs.Web
    topic: str
    truth: NDArray[np.bool_]
    counted: NDArray[np.bool_]  # all pages but the examples
    relevance: Floats
    words: Floats  # what the words of a link to each page say
    anchors: list[tuple[str, str]]  # the text of the first link to each page, and the words around it
    likeness: Floats  # to the mean of the examples, the similarity that Fish and Shark search were published with
    link_likeness: Floats
    judge: Judge


def synthetic(locality: float, seed: int, pages: int = 4000, topics: int = 5) -> TopicalWeb:
    """A synthetic web of 20 hosts with some topics; the topic is the one whose size is nearest to
    the mean."""
    made = SyntheticWeb(
        hosts=20, pages=pages, seed=seed, links=10, size=1200, topics=topics, locality=locality, appear=0.0, vanish=0.0
    )
    urls = [made.url(page) for page in made.every_page()]
    about = np.array([made.topology.topic(page) for page in made.every_page()])
    place = {page: n for n, page in enumerate(made.every_page())}
    edges = [(n, place[target]) for page, n in place.items() for target in made.targets(page, 0.0)]
    source, target = np.array(edges, np.int64).T
    graph = webs.of_edges(source, target, len(urls))
    host = np.array([page.host for page in place], np.int64)
    sizes = np.bincount(about[about >= 0], minlength=topics)
    topic = int(np.argmin(np.abs(sizes - pages / topics)))
    web = webs.Web(f"synthetic, locality {locality}", graph, [0], host, host, host, urls)
    texts = [told(HtmlPage(made.body(url, 0.0), "utf-8", url)) for url in urls]
    anchors = [(made.title(url), "") for url in urls]
    return _judged(web, f"topic {topic}", about == topic, texts, anchors, seed)


def of_documentation(read: Documentation, seed: int) -> Iterator[TopicalWeb]:
    """The pages of a finished crawl of documentation, with each topic that it has enough pages
    of."""
    for name in SECTIONS:
        truth = np.array(pages_of(read.web, name))
        if truth.sum() > EXAMPLES + 10:
            yield _judged(read.web, name, truth, read.texts, read.anchors, seed)


def _judged(
    web: webs.Web,
    topic: str,
    truth: NDArray[np.bool_],
    texts: list[JudgedText],
    anchors: list[tuple[str, str]],
    seed: int,
) -> TopicalWeb:
    chance = random.Random(seed)
    mine = chance.sample(np.flatnonzero(truth).tolist(), EXAMPLES)
    others = chance.sample(np.flatnonzero(~truth).tolist(), COUNTER_EXAMPLES)
    model = train(topic, [Example(str(n), bool(truth[n]), texts[n].example) for n in [*mine, *others]])
    judge = Judge(model.weights)
    counted = np.ones(len(truth), np.bool_)
    counted[mine] = False
    relevance = np.array([judge.page(*each) for each in texts])
    words = np.array([judge.link(*said, url) for said, url in zip(anchors, web.urls, strict=True)])
    alike = Judge(train(topic, [Example(str(n), True, texts[n].example) for n in mine]).weights)
    likeness = np.array([alike.page(each.title, each.text) for each in texts])
    link_likeness = np.array([alike.link(*said, url) for said, url in zip(anchors, web.urls, strict=True)])
    return TopicalWeb(web, topic, truth, counted, relevance, words, anchors, likeness, link_likeness, judge)


def of_universities(seed: int) -> TopicalWeb:
    """Universities whose papers are on the topic; each is a host of its own for what it brings."""
    pages = universities(seed)
    place = {page.path: n for n, page in enumerate(pages)}
    anchors = [(page.title, "") for page in pages]
    edges = [(n, place[path]) for n, page in enumerate(pages) for path, _ in page.links]
    source, target = np.array(edges, np.int64).T
    graph = webs.of_edges(source, target, len(pages))
    urls = [f"http://universities.test{page.path}" for page in pages]
    host = np.zeros(len(pages), np.int64)
    web = webs.Web("universities", graph, [place["/"]], host, host, host, urls)
    texts = [told(HtmlPage(page.body(seed), "utf-8", url)) for page, url in zip(pages, urls, strict=True)]
    return _judged(web, "papers", np.array([page.on_topic for page in pages]), texts, anchors, seed)
