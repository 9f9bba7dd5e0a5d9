import pytest

from sanderling.urls import SEEDABLE, canonical, hostname, identity, join, origin


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
