from sanderling.model import ChangeKind
from sanderling.telling.digest import as_markdown, as_tables, as_text, digest
from sanderling.telling.selection import ChangeFilter
from tests.telling.versions import version

NEW, TEXT, GONE = ChangeKind.NEW, ChangeKind.TEXT, ChangeKind.GONE
STORY = [
    version(9, "http://b.org/only", NEW),
    version(8, "http://a.org/left", GONE, 1.0),
    version(7, "http://a.org/much", TEXT, 0.1),
    version(6, "http://a.org/much", TEXT, 0.9),
    version(5, "http://a.org/little", TEXT, 0.2),
    version(4, "http://a.org/came-and-changed", TEXT, 0.1),
    version(3, "http://a.org/came-and-changed", NEW, 1.0),
    version(2, "http://a.org/left", NEW, 1.0),
    version(1, "http://a.org/came", NEW, 1.0),
]


def test_each_page_is_told_once_by_what_became_of_it() -> None:
    a, b = digest(STORY)
    assert (a.host, b.host) == ("a.org", "b.org")
    paths = [(page.shown.url.removeprefix("http://a.org/"), page.times) for page in a.changed]
    assert paths == [("much", 2), ("little", 1), ("came-and-changed", 1)]
    assert [page.shown.number for page in a.new] == [1]
    assert [(page.shown.number, page.times) for page in a.gone] == [(8, 1)]
    assert [page.shown.number for page in b.new] == [9]


def test_it_fits_into_a_mail() -> None:
    many = [version(n, f"http://a.org/{n}", TEXT, n / 1000) for n in range(1000)]
    lines = list(as_text(digest(many), most=5))
    assert lines[0] == "a.org: 1,000 changed"
    assert lines[1].split() == ["changed", "http://a.org/999"]
    assert "  ... and 995 more changed" in lines
    assert len(lines) == 13
    assert len(as_tables(digest(many))[0]["changed"]) == 1000


def test_markdown_is_not_for_the_web_to_write() -> None:
    evil = "[click](http://evil.org) <img src=x> **bold** `code`\n# Title"
    lines = list(as_markdown(digest([version(1, "http://a.org/<b>", summary=evil, title=evil)])))
    (line,) = [line for line in lines if line.startswith("- ")]
    assert "\n" not in line
    for markup in ("](http://evil", "<img", "**", "`code`", "<b>"):
        assert markup not in line.replace("\\" + markup[0], "")
    assert line.count("](<") == 1


def test_only_what_is_wanted() -> None:
    assert [v.number for v in ChangeFilter(kinds=NEW | GONE).of(STORY)] == [9, 8, 3, 2, 1]
    assert [v.number for v in ChangeFilter(significance=0.9, hosts=("org",), kinds=TEXT).of(STORY)] == [6]
    assert [v.number for v in ChangeFilter(hosts=("b.org",)).of(STORY)] == [9]
    assert not list(ChangeFilter(hosts=("g",)).of(STORY))
    assert [v.number for v in ChangeFilter(since=1_700_000_008.0).of(STORY)] == [9, 8]
    dull = version(10, news=False), version(11, kinds=ChangeKind(0))
    assert not list(ChangeFilter().of(dull))
    assert len(list(ChangeFilter(everything=True).of(dull))) == 2
