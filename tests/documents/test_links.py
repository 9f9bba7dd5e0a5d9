from sanderling.documents.links import LinkTable, in_charset, pack, unpacked
from sanderling.urls import identity


def urls(table: LinkTable, base: str, *hrefs: str) -> tuple[list[int], list[str]]:
    links, new = table.resolve(base, hrefs)
    return list(unpacked(links)), [found.url for _, found in new]


def test_each_link_once_and_new_ones_once() -> None:
    table = LinkTable()
    ids, new = urls(table, "http://e.org/a/b", "c", "c#x", "../d", "http://f.org", "c")
    expected = ["http://e.org/a/c", "http://e.org/d", "http://f.org/"]
    assert new == expected
    assert ids == [identity(url) for url in expected]
    ids, new = urls(table, "http://e.org/a/other", "c", "#top", "", "e")
    assert new == ["http://e.org/a/e"]
    assert ids == [identity("http://e.org/a/c"), identity("http://e.org/a/e")]


def test_what_is_remembered_depends_on_the_folder() -> None:
    table = LinkTable()
    urls(table, "http://e.org/a/", "c")
    assert urls(table, "http://e.org/b/", "c")[1] == ["http://e.org/b/c"]
    # "?" and a slash within a query refer to the page itself
    assert urls(table, "http://e.org/a/p", "?q")[1] == ["http://e.org/a/p?q"]
    assert urls(table, "http://e.org/a/r", "?q")[1] == ["http://e.org/a/r?q"]
    assert urls(table, "http://e.org/a/r?x=/y/z", "s")[1] == ["http://e.org/a/s"]


def test_what_is_not_on_the_web_is_no_link() -> None:
    table = LinkTable()
    bad = ["javascript:void(0)", "mailto:x@y", "data:,x", "file:///etc/passwd", "telnet://e.org/",
           "http://[", "blob:x", " #x", "  ", "http://u:p@e.org/x", "http://e.org/" + "y" * 9000]  # fmt: skip
    assert urls(table, "http://e.org/", *bad)[1] == ["http://e.org/x"]


def test_links_by_ftp_and_gopher_are_told() -> None:
    """Whether they are followed is for the scope to say."""
    written = ["ftp://u:p@E.org/a#x", "gopher://e.org/1/b", "ftp://"]
    assert urls(LinkTable(), "http://e.org/", *written)[1] == ["ftp://e.org/a", "gopher://e.org/1/b"]


def test_new_links_are_named_as_they_are_written() -> None:
    for count in (3, 300):
        written = [f"p{n}#x" for n in range(count)] + ["p1", "p2#y"]
        _, new = LinkTable().resolve("http://e.org/", written)
        assert [found.url for _, found in new] == [f"http://e.org/p{n}" for n in range(count)]
        assert {href for href, _ in new} <= {*written}


def test_two_names_of_one_page_are_one_link() -> None:
    links, new = LinkTable().resolve("http://e.org/", ["/a", "a", "./a", "http://e.org/a"])
    assert list(unpacked(links)) == [identity("http://e.org/a")]
    assert len(new) == 1


def test_a_query_is_written_in_the_charset_of_its_page() -> None:
    hrefs = ["café?q=é&r=a", "é", "?q=a", "?日=é#é"]
    assert in_charset(hrefs, "utf-8") == in_charset(hrefs, "utf-16le") == {}
    assert in_charset(hrefs, "windows-1252") == {
        "café?q=é&r=a": "café?q=%E9&r=a",
        "?日=é#é": "?%26%2326085%3B=%E9#%E9",  # characters that the charset lacks, encoded as forms do
    }
    assert in_charset(["?日"], "shift_jis") == {"?日": "?%93%FA"}
    assert in_charset(["?é"], "x-user-defined") == {"?é": "?é"}


def test_pack() -> None:
    assert list(unpacked(pack([1, -2, 2**62]))) == [1, -2, 2**62]
