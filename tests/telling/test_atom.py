"""The feed, read by an XML parser and a feed reader."""

from datetime import datetime
from xml.etree import ElementTree

from turbohtml import extract

from sanderling.model import ChangeKind
from sanderling.telling.atom import NAMESPACE, feed
from tests.telling.versions import version

ATOM = f"{{{NAMESPACE}}}"
HOSTILE = "</summary><script>\x00\x1b[2J & ]]> \ud800 \ufffe \U0001f980"


def parsed(made: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(made)


def test_what_rfc_4287_demands_is_there() -> None:
    root = parsed(feed([version(2), version(1, kinds=ChangeKind.GONE)], "Changes", "seed", "https://me.org/f.atom"))
    assert root.tag == ATOM + "feed"
    for name in ("id", "title", "updated", "author"):
        assert len(root.findall(ATOM + name)) == 1, name
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    assert [link.attrib["href"] for link in root.findall(f"{ATOM}link[@rel='self']")] == ["https://me.org/f.atom"]
    entries = root.findall(ATOM + "entry")
    assert len(entries) == 2
    for entry in entries:
        for name in ("id", "title", "updated", "summary"):
            assert len(entry.findall(ATOM + name)) == 1, name
        assert entry.find(f"{ATOM}link[@rel='alternate']") is not None
    stamps = [each.text or "" for each in root.iter(ATOM + "updated")]
    assert [datetime.fromisoformat(stamp).timestamp() for stamp in stamps] == [1700000002.0, 1700000002.0, 1700000001.0]
    assert [each.attrib["term"] for each in root.iter(ATOM + "category")] == ["text", "gone"]


def test_ids_stay_and_differ() -> None:
    def ids(*numbers: int) -> list[str | None]:
        return [each.text for each in parsed(feed(map(version, numbers), "t", "seed")).iter(ATOM + "id")]

    assert ids(2, 1)[1:] == [*ids(2)[1:], *ids(1)[1:]]
    assert ids(2)[0] == ids()[0]
    assert len(set(ids(3, 2, 1))) == 4
    assert all((each or "").startswith("urn:uuid:") for each in ids(3, 2, 1))


def test_whatever_the_web_says_stays_text() -> None:
    made = feed([version(1, url="http://e.org/?a=1&b=\"'<", summary=HOSTILE, title=HOSTILE)], HOSTILE, "seed")
    root = parsed(made)
    assert not [each for each in root.iter() if "script" in each.tag]
    summary = root.findtext(f"{ATOM}entry/{ATOM}summary") or ""
    assert summary.startswith("</summary><script>")
    assert "\U0001f980" in summary
    link = root.find(f"{ATOM}entry/{ATOM}link")
    assert link is not None
    assert link.attrib["href"] == "http://e.org/?a=1&b=\"'<"


def test_a_feed_reader_takes_it() -> None:
    made = feed([version(1, title="A & B")], "Changes on e.org", "seed")
    read = extract.feed(made.decode())
    assert read is not None
    assert (read.type, read.title) == ("atom", "Changes on e.org")
    (entry,) = read.entries
    assert (entry.title, entry.link, entry.summary) == ("A & B (text)", "http://e.org/", "change 1")


def test_an_empty_feed_is_a_feed() -> None:
    assert parsed(feed([], "t", "seed")).findtext(ATOM + "updated") == "1970-01-01T00:00:00.000Z"
