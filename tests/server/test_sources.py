from sanderling.model import Host, Kind, Robots, State, Task
from sanderling.server.frontier.sources import MOST_A_HOST, MOST_NESTED, Sources, source

TEXT = """User-agent: *
Sitemap: http://e.org/one.xml
 sitemap :  HTTP://E.org/two.xml.gz # comment
Sitemap: file:///etc/passwd
Sitemap: /relative.xml
"""


def host(text: str = "") -> Host:
    return Host(7, "http://e.org", Robots(0.0, None, text, ""))


def test_named_ones_or_else_the_usual_place() -> None:
    assert [each.url for each in Sources(True).of(host(TEXT))] == ["http://e.org/one.xml", "http://e.org/two.xml.gz"]
    sources = Sources(True)
    assert [each.url for each in sources.of(host())] == ["http://e.org/sitemap.xml"]
    assert sources.of(host()) == []
    assert Sources(False).of(host()) == []
    assert Sources(True).of(Host(8, "ftp://e.org")) == []


def test_nesting_breadth_and_other_hosts_are_limited() -> None:
    sources = Sources(True)
    parent = Task(1, "http://e.org/index.xml", 0, 0, 0, Kind.SOURCE)
    assert sources.row(source("http://e.org/a.xml"), 1, parent, True).state is State.QUEUED
    deep = sources.row(source("http://e.org/b.xml"), 1, parent._replace(hops=MOST_NESTED), True)
    assert (deep.state, deep.reason) == (State.EXCLUDED, f"sitemap-nested:{MOST_NESTED}")
    assert sources.row(source("http://f.org/c.xml"), 1, parent, False).state is State.EXCLUDED
    rows = [sources.row(source(f"http://e.org/{n}.xml"), 1, parent, True) for n in range(MOST_A_HOST)]
    assert rows[-1].reason == f"sitemap-many:{MOST_A_HOST}"
