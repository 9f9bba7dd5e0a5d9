import pytest

from sanderling.errors import BadSeed, BadSetting
from sanderling.model import Found, State
from sanderling.server.frontier.scope import MAX_HOPS, Scope, admit, canonical_seed
from sanderling.server.ranking.order import breadth_first
from sanderling.settings import Settings
from sanderling.urls import identity, origin


def objection(url: str, seed: str = "https://docs.example.co.uk/a/b.html", **settings: object) -> str:
    return Scope([seed], Settings(**settings)).objection(url, origin(url))  # type: ignore[arg-type]


def test_host() -> None:
    assert not objection("https://docs.example.co.uk/x")
    assert objection("https://example.co.uk/x")
    assert objection("https://docs.example.co.uk:8443/x")
    assert objection("https://docs.example.co.uk.evil.org/x")


def test_both_schemes_are_one_host() -> None:
    """A site that moved to HTTPS still has links with http."""
    for scope in ("host", "prefix", "domain"):
        assert not objection("http://docs.example.co.uk/a/x", scope=scope)
        assert not objection("https://e.org/x", "http://e.org/", scope=scope)
    assert objection("http://docs.example.co.uk/b", scope="prefix")


def test_domain_by_the_public_suffix_list() -> None:
    assert not objection("http://www.example.co.uk/x", scope="domain")
    assert objection("http://other.co.uk/x", scope="domain")
    assert not objection("http://127.0.0.1:81/x", "http://127.0.0.1/", scope="domain")


def test_prefix_and_any() -> None:
    assert not objection("https://docs.example.co.uk/a/c", scope="prefix")
    assert objection("https://docs.example.co.uk/b", scope="prefix")
    assert not objection("https://elsewhere.org/", scope="any")


def test_patterns() -> None:
    assert objection("https://docs.example.co.uk/x.pdf", exclude=("\\.pdf$",))
    assert objection("https://docs.example.co.uk/x", include=("/only/",))
    assert not objection("https://docs.example.co.uk/only/x", include=("/only/",))
    assert not objection("https://docs.example.co.uk/a/b.html", include=("/only/",)), "the seed, which was named"
    assert objection("https://docs.example.co.uk/a/b.html", exclude=("/a/",))


def test_a_pattern_cannot_explode() -> None:
    scope = Scope(["http://e.org/"], Settings(exclude=("(a+)+$",)))
    assert not scope.objection("http://e.org/" + "a" * 5000 + "!", "http://e.org")
    with pytest.raises(BadSetting, match="not a valid pattern"):
        Scope(["http://e.org/"], Settings(exclude=("(",)))


@pytest.mark.parametrize(
    "path",
    [
        "logout", "Logout.php?x=1", "user/logout/", "users/sign_out", "account/log-off;a", "wp-login.php?action=logout&n=1",
        "?logout", "w/index.php?title=Special:UserLogout", "j_spring_security_logout",
    ],
)  # fmt: skip
def test_what_would_end_a_session_is_left_alone_where_there_is_one(path: str) -> None:
    url = f"https://docs.example.co.uk/{path}"
    assert objection(url, cookies=True) == "ends-session"
    assert not objection(url)


@pytest.mark.parametrize(
    "path",
    ["login", "logs/out", "catalog-out", "blogoff", "how-to-log-out", "logout-explained", "log-out-of-it", "signoffs", "?to=%2Flogout"],
)  # fmt: skip
def test_what_only_sounds_like_it_is_followed(path: str) -> None:
    assert not objection(f"https://docs.example.co.uk/{path}", cookies=True)


def test_a_host_may_be_named_so() -> None:
    assert not objection("https://www.logout.fyi/x", "https://www.logout.fyi/", cookies=True)


@pytest.mark.parametrize(
    ("typed", "seed"),
    [
        ("example.org", "https://example.org/"),
        (" HTTP://Example.org/x#y ", "http://example.org/x"),
        ("ftp://e.org/pub", "ftp://e.org/pub"),
        ("localhost:8000", "https://localhost:8000/"),
    ],
)
def test_seeds(typed: str, seed: str) -> None:
    assert canonical_seed(typed) == seed


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "file:///etc/passwd", "javascript:alert(1)", "mailto:a@e.org", "http://", "http://[", "two words", "/x"],
)
def test_bad_seeds(typed: str) -> None:
    with pytest.raises(BadSeed) as caught:
        canonical_seed(typed)
    assert "cannot be a seed" in str(caught.value)


def test_nothing_is_dropped_without_a_reason() -> None:
    scope = Scope(["http://e.org/"], Settings())
    found = [Found(identity(u), u, "t") for u in ("http://e.org/a", "http://f.org/")]
    inside, outside = admit(found, 1, 3, 0, scope, None, breadth_first)
    assert (inside.state, inside.reason, inside.rank, inside.via) == (State.QUEUED, "", -3.0, 1)
    assert outside.state is State.EXCLUDED
    assert outside.reason == "other-host"
    assert admit(found[:1], 1, 3, 0, scope, 2, breadth_first)[0].reason == "too-deep"
    assert admit(found[:1], 1, 0, MAX_HOPS + 1, scope, 2, breadth_first)[0].reason == "too-many-redirects:20"
