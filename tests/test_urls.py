import pytest

from sanderling.urls import SEEDABLE, canonical, hostname, identity, join, origin, redirected


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


def test_identity_is_stable_and_fits_a_signed_64_bit_number() -> None:
    assert identity("http://example.org/") == identity("http://example.org/")
    assert all(-(2**63) <= identity(f"http://e.org/{n}") < 2**63 for n in range(1000))
    assert len({identity(f"http://e.org/{n}") for n in range(10000)}) == 10000


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
