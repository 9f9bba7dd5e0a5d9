import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.documents.robots import MOST_WILDCARDS, RobotsGroup, group_for, sitemaps

US = frozenset({"sanderling"})
HOST = "http://e.org"


def allowed(text: str, path: str, names: frozenset[str] = US) -> bool:
    return group_for(text, names).allows(HOST + path)


# ---- RFC 9309


RFC_5_1 = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("anybot", "/a.gif", False),
        ("anybot", "/a.gif?x", True),
        ("anybot", "/example/x", False),
        ("anybot", "/publications/", True),
        ("foobot", "/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/a.gif", True),
        ("quxbot", "/example/", True),
        ("quxbot", "/a.gif", True),
    ],
)
def test_rfc_9309_section_5_1(name: str, path: str, expected: bool) -> None:
    assert allowed(RFC_5_1, path, frozenset({name})) is expected


def test_rfc_9309_section_5_2_longest_match() -> None:
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    foobot = frozenset({"foobot"})
    assert allowed(text, "/example/page/", foobot)
    assert not allowed(text, "/example/page/disallowed.gif", foobot)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        # Beyond the tables of the RFC.
        ("/*http:/", "/redirect?to=http://f.org/"),
        ("/*%2Fx", "/redirect?to=%2Fx"),
        ("/a|b", "/a%7Cb"),
        ("/100%", "/100%"),
        ("private", "/private"),
    ],
)
def test_escapes_are_compared_by_what_they_mean(pattern: str, path: str) -> None:
    assert not allowed(f"User-agent: *\nDisallow: {pattern}\n", path)


def test_an_escaped_slash_divides_no_path() -> None:
    assert allowed("User-agent: *\nDisallow: /a%2Fb\n", "/a/b")
    assert allowed("User-agent: *\nDisallow: /a/b\n", "/a%2Fb")
    assert allowed("User-agent: *\nDisallow: /a%3Fb\n", "/a?b")


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("/", ["/", "/x"], []),
        ("/fish", ["/fish", "/fish.html", "/fish/a", "/fishheads"], ["/Fish", "/cat/fish"]),
        ("/fish/", ["/fish/", "/fish/?id=1"], ["/fish", "/fish.html"]),
        ("/*.php", ["/index.php", "/a/b.php?c", "/x.php/"], ["/", "/x.PHP"]),
        ("/*.php$", ["/index.php", "/a.php/b.php"], ["/x.php?p", "/x.php/", "/x.php5"]),
        ("/fish*.php", ["/fish.php", "/fishheads/a.php?x"], ["/Fish.php"]),
        ("/fish$", ["/fish"], ["/fish/", "/fishes"]),
        ("/a$b", ["/a$b", "/a$bc"], ["/a"]),
        ("/a**b", ["/ab", "/axxb"], ["/a"]),
        ("/aba*aba$", ["/abaaba", "/abaxaba"], ["/aba", "/ababa"]),
        ("*", ["/", "/x"], []),
        ("/*$", ["/", "/x"], []),
        ("/$", ["/"], ["/x"]),
        ("", [], ["/", "/x"]),
    ],
)
def test_patterns(pattern: str, matched: list[str], others: list[str]) -> None:
    text = f"User-agent: *\nDisallow: {pattern}\n"
    assert [path for path in matched if allowed(text, path)] == []
    assert [path for path in others if not allowed(text, path)] == []


def test_the_longest_rule_decides_and_allow_on_ties() -> None:
    assert allowed("User-agent: *\nDisallow: /folder\nAllow: /folder\n", "/folder/page")
    assert allowed("User-agent: *\nAllow: /p\nDisallow: /\n", "/page")
    assert not allowed("User-agent: *\nAllow: /page\nDisallow: /*.htm\n", "/page.htm")
    assert allowed("User-agent: *\nAllow: /$\nDisallow: /\n", "/")
    assert not allowed("User-agent: *\nAllow: /$\nDisallow: /\n", "/page.htm")
    assert allowed("User-agent: *\nDisallow: /\n", "/robots.txt")


# ---- which crawlers a group applies to


@pytest.mark.parametrize(
    "head",
    [
        "User-agent: a\nCrawl-delay: 3\nUser-agent: sanderling\n",
        "User-agent: sanderling\nCrawl-delay: 3\nUser-agent: a\n",
        "User-agent: sanderling\nNoindex: /x\nUser-agent: a\n",
        "User-agent: sanderling\nSitemap: http://e.org/s.xml\n\n\nUser-agent: a\n",
        "User-agent: sanderling\nUser-agent\n",
        "User-agent: SANDERLING/2.0 (+http://e.org)\n",
        "User-agent: Sanderling Web Crawler\n",
        "user agent: sanderling*\n",
        "User-agent sanderling\n",
        "  USERAGENT :\tsanderling # that one\n",
        "User-agent: b\nDisallow: /x\nUser-agent: sanderling\n",
        "User-agent: *\nAllow: /\nUser-agent: sanderling\n",
    ],
)
def test_a_group_addresses_us(head: str) -> None:
    assert not allowed(head + "Disallow: /secret\n", "/secret")


@pytest.mark.parametrize("name", ["Sand", "Sanderlings", "Sanderling-Images", "Mysanderling", "", "e", "*ling", "San*"])
def test_a_group_addresses_others(name: str) -> None:
    assert allowed(f"User-agent: {name}\nDisallow: /\n", "/x")


def test_the_groups_that_name_us_are_merged_and_those_for_everyone_then_do_not_count() -> None:
    text = (
        "Disallow: /nobody\n"
        "User-agent: sanderling\nDisallow: /one\nCrawl-delay: 2\n"
        "User-agent: *\nDisallow: /everyone\nCrawl-delay: 9\n"
        "User-agent: other\nUser-agent: Sanderling\nDisallow: /two\n"
    )
    group = group_for(text, US)
    assert [path for path in ("/one", "/two", "/everyone", "/nobody") if group.allows(HOST + path)] == [
        "/everyone",
        "/nobody",
    ]
    assert group.crawl_delay == 2.0
    assert group_for(text, frozenset({"someone"})).crawl_delay == 9.0


def test_a_delay_is_meant_for_those_named_above_it() -> None:
    text = "User-agent: slow\nCrawl-delay: 120\nUser-agent: *\nDisallow: /x\n"
    assert group_for(text, US).crawl_delay == 0.0
    assert group_for(text, frozenset({"slow"})).crawl_delay == 120.0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(end: str) -> None:
    assert not allowed(end.join(["User-agent: *", "Disallow: /x", ""]), "/x")
    assert allowed(end.join(["User-agent: *", "Allow: /x\u2028Disallow: /"]), "/y")


def test_misspelled_rules_are_kept() -> None:
    for word in ("Disallow", "DISALLOW", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
        assert not allowed(f"User-agent: *\n{word}: /x\n", "/x")
    assert not allowed("User-agent: *\nDisallow /x\n", "/x")
    assert allowed("User-agent: *\nDisallowed: /x\n", "/x")


def test_sitemaps() -> None:
    text = "Sitemap: http://e.org/a.xml\nUser-agent: x\nsitemap:http://e.org/b.xml # c\nSitemap:\nSitemap-x: no\n"
    assert [*sitemaps(text)] == ["http://e.org/a.xml", "http://e.org/b.xml"]


# ---- hostile files


def kept(group: RobotsGroup) -> int:
    return len(group.prefixes) + len(group.wildcards)


def test_only_what_addresses_us_is_kept() -> None:
    agents = "".join(f"User-agent: a{n}\n" for n in range(16_000))
    rules = "".join(f"Disallow: /{n}\n" for n in range(13_000))
    assert kept(group_for(agents + rules, US)) == 0
    group = group_for(f"{agents}User-agent: *\n" * 2 + rules, US)
    assert kept(group) == 13_000
    assert not group.allows(HOST + "/12999")
    assert kept(group_for("User-agent: sanderling\n" * 16_000 + "Disallow: /x\n" * 13_000, US)) == 1


def test_wildcards_beyond_the_most_forbid_more_and_never_less() -> None:
    many = "".join(f"Disallow: /a/*{n}x\n" for n in range(MOST_WILDCARDS))
    group = group_for(f"User-agent: *\n{many}Disallow: /b/*/secret\nAllow: /c/*\nDisallow: /c\n", US)
    assert len(group.wildcards) == MOST_WILDCARDS
    assert not group.allows(HOST + "/a/17x")
    assert group.allows(HOST + "/a/y")
    assert not group.allows(HOST + "/b/1/secret")
    assert not group.allows(HOST + "/b/1")
    assert not group.allows(HOST + "/c/1")


def test_no_pattern_backtracks() -> None:
    group = group_for("User-agent: *\nDisallow: /" + "*a" * 2000 + "*b$\n", US)
    assert group.allows(HOST + "/" + "a" * 8000)
    assert not group.allows(HOST + "/" + "a" * 8000 + "b")


# ---- compared with a slow and simple matcher

LETTERS = st.text("ab/?%", max_size=8).map("/{}".format)
PATTERNS = st.text("ab/?*$", max_size=8).map("/{}".format)


def naive(rules: list[tuple[bool, str]], path: str) -> bool:
    best = (0, True)
    for allow, pattern in rules:
        body, end = (pattern[:-1], r"\Z") if pattern.endswith("$") else (pattern, "")
        if re.match(".*".join(map(re.escape, body.split("*"))) + end, path, re.DOTALL):
            best = max(best, (len(pattern), allow))
    return best[1]


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6), LETTERS)
def test_rules_decide_as_a_plain_matcher_does(rules: list[tuple[bool, str]], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in rules)
    assert allowed(text, path) == naive(rules, path)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    group_for(text, US).allows(HOST + "/x")
    [*sitemaps(text)]
