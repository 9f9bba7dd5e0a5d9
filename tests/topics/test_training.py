"""Models of topics: what they learn from examples, what they say of it, and what a damaged file
gets."""

import json
from pathlib import Path

import pytest

from sanderling.documents.html import HtmlPage
from sanderling.errors import BadTopic
from sanderling.server.topic.bookmarks import bookmarks_in
from sanderling.testing.prose import sentences
from sanderling.topics import words
from sanderling.topics.judging import Judge
from sanderling.topics.model import Example, Topic, read, write
from sanderling.topics.training import TYPED_BY_USER, train


def text(topic: int, number: int) -> str:
    """A text of 20 sentences about a topic."""
    return " ".join(sentences(3, topic)[20 * number : 20 * number + 20])


def examples(relevant: int, others: int) -> list[Example]:
    wanted = [Example(f"yes/{n}", True, text(0, n)) for n in range(relevant)]
    return wanted + [Example(f"no/{n}", False, text(1 + n % 5, n)) for n in range(others)]


@pytest.fixture(scope="module")
def topic() -> Topic:
    return train("waders", examples(10, 20))


def test_a_model_separates_texts_it_has_not_seen(topic: Topic) -> None:
    judge = Judge(topic.weights)
    on, off = [judge.page("", text(0, n)) for n in range(50, 80)], [judge.page("", text(2, n)) for n in range(50, 80)]
    assert min(on) > 0.5 > max(off)
    assert topic.quality.precision == topic.quality.recall == 1.0
    assert set(topic.quality.for_it) <= set(" ".join(text(0, n) for n in range(10)).lower().replace(".", "").split())


def test_the_words_of_a_link_tell_what_it_leads_to(topic: Topic) -> None:
    judge, word = Judge(topic.weights), topic.quality.for_it[0]
    nothing = judge.link("here", "", "https://a.test/1")
    assert judge.link(word, "", "https://a.test/1") > nothing
    assert judge.link("here", word, "https://a.test/1") > nothing
    assert judge.link("here", "", f"https://a.test/{word}-4") > nothing


def test_a_wrong_example_is_named() -> None:
    """An example that is about something else, among ten that are alike."""
    topic = train("waders", [*examples(10, 20), Example("odd", True, text(1, 30))])
    assert "odd" in dict(topic.quality.wrong)
    assert topic.quality.recall == round(10 / 11, 3)


def test_a_topic_without_counter_examples_says_that_its_precision_is_unknown() -> None:
    topic = train("waders", examples(8, 0))
    judge = Judge(topic.weights)
    assert topic.quality.precision is None
    assert any("counter-examples" in advice for advice in topic.quality.advice)
    assert judge.page("", text(0, 60)) > 0.5 > judge.page("", text(3, 60))


def test_words_alone_make_a_topic() -> None:
    judge = Judge(train("w", [Example(TYPED_BY_USER + "tidal flats", True, "tidal flats")]).weights)
    rest = text(1, 1)
    assert judge.page("Tidal flats", f"The tidal flats of the north. Flats are flat. {rest}") > 0.5
    assert judge.page("", rest) < 0.2


LIST = "sandpiper plover wader dunlin knot shorebird"
ON_THE_LIST = (
    "The sandpiper is a small wader. It runs along the shore with the dunlin and the knot. A plover stands still, looks, "
    "runs, and stands still again. Each shorebird has its own way to feed: the knot probes, the plover picks, the dunlin "
    "stitches, and the sandpiper chases the waves. A wader with a long bill reaches deeper than a plover can. ",
    "Counts of the winter: dunlin 4,100, knot 2,300, plover 410, sandpiper 95. The shorebird most often seen was the "
    "dunlin. The knot came late, and each wader left the bay before the ice did. One plover was ringed. ",
    "A plover nests on bare sand. Four eggs lie in a scrape between shells, and both parents take turns. When a dog comes "
    "close, the plover drags a wing along the ground until the danger follows it. Other shorebird parents do the same, "
    "the plover does it best. The young run within hours. They find their food alone, and fly after a month. ",
)


@pytest.mark.parametrize("length", [1, 3])
def test_a_handful_of_words_makes_a_topic_of_pages_that_are_full_of_them(length: int) -> None:
    judge = Judge(train("w", [Example(TYPED_BY_USER + LIST, True, LIST)]).weights)
    for each in ON_THE_LIST:
        assert judge.page("", (each + text(1, 1)) * length) > 0.5
    assert judge.page("", text(1, 1) * length) < 0.2
    stuffed = " ".join(text(1, n) for n in range(6)).split()
    stuffed[::2] = [LIST.split()[n % 6] for n in range(len(stuffed[::2]))]
    assert judge.page("", " ".join(stuffed)) < 0.5
    assert judge.page("", f"{LIST} " * 60) < 0.2


def test_scripts_without_spaces_are_learned_by_pairs_of_characters() -> None:
    on = "浜辺の鳥は波の間を走る。干潟の鳥の群れ。"
    off = "電車の時刻表と運賃。駅の案内と切符の購入方法。"
    judge = Judge(train("鳥", [Example("a", True, on * 2), Example("b", False, off * 2)]).weights)
    assert judge.page("", "干潟を走る鳥の群れと浜辺") > judge.page("", "駅で切符を購入する電車")
    assert words.counted("干潟の鳥")["干潟"] == 1


def test_a_page_that_only_repeats_the_words_of_the_topic_is_not_relevant(topic: Topic) -> None:
    stuffed = " ".join(topic.quality.for_it[:6]) + " "
    assert Judge(topic.weights).page("", stuffed * 100) < 0.2


@pytest.mark.parametrize("step", [2, 3])
def test_words_of_the_topic_between_other_words_do_not_make_a_page_relevant(topic: Topic, step: int) -> None:
    """A real page has at most one of them in seven words, whatever it was learned from."""
    by_words = train("w", [Example(TYPED_BY_USER + "wading birds", True, "wading birds")])
    for each, named in ((topic, topic.quality.for_it[:4]), (by_words, ["wading", "birds"])):
        said = " ".join(text(1, n) for n in range(6)).split()
        said[::step] = [named[n % len(named)] for n in range(len(said[::step]))]
        assert Judge(each.weights).page("", " ".join(said)) < 0.3


def test_a_page_with_nothing_but_a_title_and_links_is_not_relevant() -> None:
    judge = Judge(train("w", [Example(TYPED_BY_USER + "wading birds", True, "wading birds")]).weights)
    for count in (12, 60):
        assert relevance(judge, "<title>Wading birds</title>" + anchors(count, "wading birds")) < 0.4
    assert relevance(judge, f"<title>Wading birds</title><p>{text(1, 1)}") > 0.4


def anchors(count: int, said: str) -> str:
    return "".join(f'<a href="/{n}">{said} {n}</a> ' for n in range(count))


def relevance(judge: Judge, html: str) -> float:
    page = HtmlPage(html.encode(), "utf-8", "https://a.test/")
    return judge.page(page.title(), *page.text_and_links())


@pytest.mark.parametrize("words", ["photovoltaics", "wading birds"])
def test_a_page_is_judged_by_its_text_more_than_by_its_links(words: str) -> None:
    """A farm has its links first, so that they fill what counts of a page, or has nothing else."""
    judge = Judge(train("w", [Example(TYPED_BY_USER + words, True, words)]).weights)
    prose = " ".join(text(1, n) for n in range(3))
    for count in (3, 12, 60, 300):
        assert relevance(judge, anchors(count, words) + prose) < 0.2
        assert relevance(judge, anchors(count, words)) < 0.4
    said = f"<p>{words} and more {words}. Here are {words}. "
    assert relevance(judge, said + prose) > 0.5
    # However many links stand before a text, or after it.
    assert relevance(judge, anchors(300, "about something else") + said + prose) > 0.5
    assert relevance(judge, said + prose + anchors(300, words)) > 0.5


def test_an_index_of_a_topic_is_more_relevant_than_another(topic: Topic) -> None:
    judge = Judge(topic.weights)
    names = [anchors(1, " ".join(text(kind, 20 + n).split()[:6])) for kind in (0, 2) for n in range(40)]
    mine, other = relevance(judge, "".join(names[:40])), relevance(judge, "".join(names[40:]))
    assert mine > 3 * other
    # A link with the text of a sentence is as good as a sentence.
    assert relevance(judge, "".join(anchors(1, text(0, 20 + n)[:150]) for n in range(20))) > 0.5


def test_a_topic_that_cannot_be_learned_says_what_to_do() -> None:
    with pytest.raises(BadTopic, match="at least one example"):
        train("x", [Example("no", False, text(1, 1))])
    with pytest.raises(BadTopic, match="no words"):
        train("x", [Example("yes", True, "1 2 3 ...")])
    with pytest.raises(BadTopic, match="the same text"):
        train("x", [Example("a", True, text(0, 1)), Example("b", False, text(0, 1))])
    alike = train("x", [Example(str(n), n % 2 == 0, text(0, n)) for n in range(20)])  # both sides are about the same
    assert any("does not separate" in advice for advice in alike.quality.advice)


def test_a_model_is_a_file_that_can_be_read_by_people_and_trained_further(topic: Topic, tmp_path: Path) -> None:
    path = tmp_path / "waders.topic"
    write(path, topic)
    assert read(path) == topic
    kept = json.loads(path.read_text())
    assert kept["examples"][0]["source"] == "yes/0"
    again = train(topic.name, [*read(path).examples, Example("yes/more", True, text(0, 40))])
    assert again.quality.examples == topic.quality.examples + 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda kept: kept | {"version": 99}, "newer version"),
        (lambda kept: kept | {"format": "other"}, "not the model of a topic"),
        (lambda kept: kept | {"weights": kept["weights"] | {"words": {"a": ["x", 1]}}}, "damaged"),
        (lambda kept: kept | {"weights": kept["weights"] | {"rarest": 0}}, "damaged"),
        (lambda kept: {name: kept[name] for name in kept if name != "weights"}, "damaged"),
    ],
)
def test_a_file_that_is_damaged_or_newer_is_refused(topic: Topic, tmp_path: Path, damage: object, said: str) -> None:
    path = tmp_path / "waders.topic"
    write(path, topic)
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))  # type: ignore[operator]
    with pytest.raises(BadTopic, match=said):
        read(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadTopic, match="damaged"):
        read(path)


def test_bookmarks_know_their_folders() -> None:
    found = bookmarks_in(
        """<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Birds</H3><DL><p><DT><A HREF="https://a.test/1">one</A>
        <DT><H3>Waders</H3><DL><p><DT><A HREF="https://a.test/2">two</A></DL><p></DL><p>
        <DT><A HREF="https://a.test/3">three</A><DT><A HREF="javascript:x()">none</A></DL>"""
    )
    assert [(each.url[-1], each.folders) for each in found] == [
        ("1", ("Birds",)),
        ("2", ("Birds", "Waders")),
        ("3", ()),
    ]
