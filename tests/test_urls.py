import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sanderling.documents.links import LinkTable
from sanderling.urls import SEEDABLE, canonical, hostname, identity, join, origin, redirected, request_identity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://Example.ORG:80/a/../b?x=1#frag", "http://example.org/b?x=1"),
        ("https://example.org", "https://example.org/"),
        ("https://user:secret@example.org/", "https://example.org/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.0.0.1/", "http://127.0.0.1/"),
        ("http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"),
        ("mailto:a@b", None),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("http://", None),
        ("http://[::1", None),
        ("http://e.org/" + "x" * 9000, None),
        ("ftp://example.org/x", None),
    ],
)
def test_canonical(text: str, expected: str | None) -> None:
    assert canonical(text) == expected


def test_seeds_may_be_ftp_and_gopher() -> None:
    assert canonical("ftp://example.org/x", SEEDABLE) == "ftp://example.org/x"
    assert canonical("gopher://example.org/1", SEEDABLE) == "gopher://example.org/1"


def test_join() -> None:
    assert join("http://e.org/a/b.html", "../c#d") == "http://e.org/c"
    assert join("http://e.org/a/", "//f.org") == "http://f.org/"
    assert join("http://e.org/", "file:///x") is None


def test_parts() -> None:
    assert origin("http://e.org:8080/a/b") == "http://e.org:8080"
    assert origin("gopher://e.org") == "gopher://e.org"
    assert hostname("http://[::1]:80/") == "::1"


def test_identities_fit_a_signed_64_bit_number_and_differ() -> None:
    assert all(-(2**63) <= identity(f"http://e.org/{n}") < 2**63 for n in range(1000))
    assert len({identity(f"http://e.org/{n}") for n in range(10000)}) == 10000


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("http://example.org/", -5242817029757127295),
        ("https://example.org/b?x=1", -1021257583790532360),
        ("http://xn--bcher-kva.example/%C3%A4", -8612150268767933276),
    ],
)
def test_identities_stay_what_they_are(url: str, number: int) -> None:
    """These values are stored in crawl folders, so they must not change."""
    assert identity(url) == request_identity(url) == number


@pytest.mark.parametrize(
    ("method", "body", "number"),
    [
        ("POST", b"", 4667409572140138487),
        ("POST", b"q=sand", 1031000459530865108),
        ("GET", b"q=sand", 4247701776887582732),
    ],
)
def test_another_method_or_body_is_another_request(method: str, body: bytes, number: int) -> None:
    assert request_identity("https://example.org/b?x=1", method, body) == number


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("http://e.org/%7euser/%C3%a4", "http://e.org/~user/%C3%A4"),
        ("http://e.org/%41%2fb?q=%2d%26", "http://e.org/A%2Fb?q=-%26"),
        ("http://e.org/%zz%4", "http://e.org/%zz%4"),
        ("http://e.org/a?", "http://e.org/a"),
        ("http://e.org/a?#x", "http://e.org/a"),
        ("https://e.org:443/./b/%2e%2e/c", "https://e.org/c"),
        ("http://e.org/?utm_source=x&id=3&UTM_Medium=y&gclid=abc", "http://e.org/?id=3"),
        ("http://e.org/?fbclid=1", "http://e.org/"),
        ("http://e.org/a?b&&c=&utm_x=1", "http://e.org/a?b&&c="),
        ("http://e.org/a;jsessionid=0A1B.node1?x=1", "http://e.org/a?x=1"),
        ("http://e.org/a;JSESSIONID=0A/b;v=2", "http://e.org/a/b;v=2"),
        ("http://e.org/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "http://e.org/orders.aspx"),
        ("http://e.org/Star_(disambiguation)", "http://e.org/Star_(disambiguation)"),
        ("http://e.org/x?PHPSESSID=1&p=2", "http://e.org/x?p=2"),
        ("http://e.org/x?sid=f3a99c1200bb71d4e0&p=2", "http://e.org/x?p=2"),
        ("http://e.org/x?sid=17&s=hello", "http://e.org/x?sid=17&s=hello"),
        ("http://e.org/x?session=2024-spring", "http://e.org/x?session=2024-spring"),
        ("http://e.org/x?utm=1&xutm_source=2", "http://e.org/x?utm=1&xutm_source=2"),
    ],
)
def test_what_names_the_same_page_is_written_the_same(text: str, same: str) -> None:
    assert canonical(text) == same
    assert canonical(same) == same


def test_a_redirect_that_insists_on_a_session_is_followed() -> None:
    assert redirected("http://e.org/a", "/b?utm_source=x") == "http://e.org/b"
    assert redirected("http://e.org/a", "/a?PHPSESSID=1") == "http://e.org/a?PHPSESSID=1"
    assert redirected("http://e.org/a", "/a#top") == "http://e.org/a"
    assert redirected("http://e.org/a", "file:///etc/passwd") is None


# ---- URLs in the wild


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://e.org/docs/..;jsessionid=1/secret", "http://e.org/secret"),
        ("http://e.org/docs/%2e%2E;sid=1/secret", "http://e.org/secret"),
        ("http://e.org/docs/.;sid=1/secret", "http://e.org/docs/secret"),
        ("http://e.org/docs/..;sid=1", "http://e.org/"),
        ("http://e.org/a/(S(abcdefghij))/..;sid=1/b", "http://e.org/b"),
        ("http://e.org/(S(abcdefghij));sid=1/b", "http://e.org/b"),
        ("http://e.org/docs/..;v=1/secret", "http://e.org/docs/..;v=1/secret"),
        ("http://e.org/a/%%32e%%32e/b", "http://e.org/a/%%32e%%32e/b"),
        ("http://e.org/%4%31", "http://e.org/%4%31"),
        ("http://e.org/%%7e", "http://e.org/%%7E"),
        ("http://e.org/%41%42%43%", "http://e.org/ABC%"),
    ],
)
def test_no_second_reading_of_a_path(text: str, expected: str) -> None:
    """Without escapes and session ids, a path is in its final form."""
    assert canonical(text) == expected
    assert canonical(expected) == expected


NASTY = st.lists(
    st.sampled_from(
        [
            *"./;?&#=%\\ ()@:ä\u202e\t\0",
            "..", "%2e", "%2E", "%2F", "%5c", "%25", "%3b", "%%32e", "%4", "a", "b",
            ";sid=1", ";jsessionid=0A.n", "(S(abcdefghij))", "(A(abcdefghij)S(abcdefghij))",
            "utm_source=x", "sid=", "PHPSESSID=1", "f3a99c1200bb71d4e0",
        ]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@given(NASTY)
@example("/a/..;sid=1/(S(abcdefghij))/..;sid=2")
@example("/%%341?%%341")
def test_the_canonical_form_of_a_canonical_form_is_itself(rest: str) -> None:
    once = canonical(f"http://e.org/{rest}")
    assert once is not None
    assert canonical(once) == once
    assert join("http://f.org/x/", once) == once
    path = once.removeprefix("http://e.org").partition("?")[0]
    assert not {".", "..", "%2E", "%2E%2E"} & set(path.split("/"))


@given(NASTY, NASTY)
def test_links_are_resolved_as_urls_are(folder: str, href: str) -> None:
    base = canonical(f"http://e.org/{folder}")
    assert base is not None
    found = [each.url for _, each in LinkTable().resolve(base, [href])[1]]
    target = join(base, href)
    assert found in ([], [target])


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    for each in (text, f"http://{text}", f"http://e.org/{text}"):
        url = canonical(each, SEEDABLE)
        assert url is None or canonical(url, SEEDABLE) == url
    LinkTable().resolve("http://e.org/", [text, "\ud800"])


def test_half_of_a_surrogate_pair_is_no_url() -> None:
    assert canonical("http://e.org/\ud800") is None
    assert join("http://e.org/", "\ud800") is None
    assert LinkTable().resolve("http://e.org/", ["\ud800", "/ok"])[1][0][1].url == "http://e.org/ok"


@pytest.mark.parametrize(
    "host",
    [
        "xn--", "xn--a", "xn--a.pt", "xn--pokxncvks", "10.0.0.XN--pokxncvks", "xn--ls8h=", "xn--zn7c.com", "xn--1ug.example",
        "xn--bcher-", "a.xn--bcher-.b", "xn--8d-", "xn---", "xn---frx", "XN---FRX.org", f"xn--{'a' * 60}-kva",
    ],
)  # fmt: skip
def test_hosts_that_are_not_well_encoded_are_refused(host: str) -> None:
    assert canonical(f"http://{host}/") is None
    assert LinkTable().resolve("http://e.org/", [f"//{host}/"]) == (b"", [])


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("xn--mgba3gch31f060k", "xn--mgba3gch31f060k"),
        ("☃.net", "xn--n3h.net"),
        ("a--b.r3---sn-x.com", "a--b.r3---sn-x.com"),
    ],
)
def test_hosts_beyond_ascii(host: str, expected: str) -> None:
    assert canonical(f"http://{host}/xn--x") == f"http://{expected}/xn--x"


def test_identities_of_ordinary_urls_never_change() -> None:
    """They are the keys of all existing crawl folders."""
    golden = {
        "http://example.org/": -5242817029757127295,
        "https://www.example.org/a/b.html?id=3&p=%C3%A4#top": -6693816158521244450,
        "https://e.org/~user/Star_(disambiguation)?q=a+b&utm_source=x": -4682728225449584249,
        "https://e.org/a;v=1/b;jsessionid=1?x=%2F&y=%2f": 8072086152608837090,
        "http://bücher.example/ä": -8612150268767933276,
    }
    assert {url: identity(canonical(url) or "") for url in golden} == golden
