"""Parameters that do not count, hosts that are the same, and pages that claim to be another
page.
"""

import msgspec

from sanderling.model import PageFacts, State
from sanderling.server.gate.claims import settled
from sanderling.server.gate.identity import KeptIdentity, QueryParameters, Twins, meant
from sanderling.urls import identity

E = "http://e.org"
NOTHING = lambda _: b""  # noqa: E731


def see(parameters: QueryParameters, path: str, content: str) -> list[tuple[int, int]] | None:
    return parameters.see(E + path, identity(E + path), content.encode(), NOTHING)


def test_a_parameter_stops_counting_by_three_contents() -> None:
    parameters = QueryParameters(KeptIdentity())
    for page in "abc":
        assert see(parameters, f"/{page}?ref=home&x=1", page) is None
    assert see(parameters, "/a?ref=foot&x=1", "a") is None
    assert see(parameters, "/b?ref=foot&x=1", "b") is None
    same = see(parameters, "/c?ref=side&x=1", "c")
    assert same is not None
    assert (identity(E + "/a?ref=foot&x=1"), identity(E + "/a?ref=home&x=1")) in same
    assert parameters.names == {"ref"}
    assert "3 contents" in parameters.ignored["ref"]
    assert meant(E + "/z?ref=q&x=2", {}, parameters.names).url == E + "/z?x=2"  # type: ignore[union-attr]
    late = see(parameters, "/a?ref=late&x=1", "a")
    assert late == [(identity(E + "/a?ref=late&x=1"), identity(E + "/a?ref=home&x=1"))]


def test_one_disagreement_and_it_counts_for_ever() -> None:
    parameters = QueryParameters(KeptIdentity())
    for page in "ab":
        for value in "123":
            see(parameters, f"/{page}?p={value}", page)
    see(parameters, "/c?p=1", "c")
    see(parameters, "/c?p=2", "another")
    for page in "defgh":
        for value in "12":
            assert see(parameters, f"/{page}?p={value}", page) is None
    assert parameters.counting == {"p"}
    assert not parameters.names


def test_a_page_that_comes_for_everything_proves_nothing() -> None:
    parameters = QueryParameters(KeptIdentity())
    for number in range(200):
        assert see(parameters, f"/{number % 20}?id={number}", "log in first") is None
    assert not parameters.names


def test_with_and_without_a_parameter() -> None:
    parameters = QueryParameters(KeptIdentity())
    visited = {identity(f"{E}/{page}"): page.encode() for page in "abc"}
    for page in "ab":
        url = f"{E}/{page}?from=x"
        assert parameters.see(url, identity(url), page.encode(), lambda id: visited.get(id, b"")) is None
    url = f"{E}/c?from=y"
    same = parameters.see(url, identity(url), b"c", lambda id: visited.get(id, b""))
    assert same is not None
    assert (identity(f"{E}/a?from=x"), identity(f"{E}/a")) in same
    parameters.take_back("from")
    assert not parameters.names
    assert "from" in parameters.counting


def test_many_parameters_and_addresses_are_bounded() -> None:
    parameters = QueryParameters(KeptIdentity())
    for number in range(2000):
        see(parameters, f"/{number}?p{number}=1&q={number}", str(number))
    assert sum(map(len, parameters._evidence.values())) < 20_000


def test_twins_merge_when_contents_agree() -> None:
    twins = Twins()
    pages = {identity(f"http://e.org/{n}"): b"%d" % n for n in range(9)}
    for home in ("http://e.org", "https://e.org", "http://www.e.org", "http://e.org:8080"):
        twins.know(home)
    assert twins.others("http://e.org") == ["https://e.org", "http://www.e.org"]
    look = lambda id: pages.get(id, b"")  # noqa: E731
    assert all(twins.see(f"https://e.org/{n}", b"%d" % n, look) == ([], []) for n in range(3))
    origins, same = twins.see("https://e.org/3", b"3", look)
    assert origins == ["http://e.org"]
    assert sorted(same) == sorted((identity(f"http://e.org/{n}"), identity(f"https://e.org/{n}")) for n in range(4))
    late = [(identity("http://e.org/4"), identity("https://e.org/4"))]
    assert twins.see("https://e.org/4", b"4", look) == ([], late)
    assert twins.see("https://e.org/5", b"else", look) == ([], [])
    assert meant("http://e.org/x?y", twins.merged, frozenset()).url == "https://e.org/x?y"  # type: ignore[union-attr]


def test_twins_that_differ_once_stay_apart() -> None:
    twins = Twins()
    for home in ("http://e.org", "http://www.e.org"):
        twins.know(home)
    twins.see("http://www.e.org/0", b"other", lambda _: b"0")
    for number in range(1, 9):
        twins.see(f"http://www.e.org/{number}", b"%d" % number, lambda _, n=number: b"%d" % n)  # type: ignore[misc]
    assert not twins.merged


def test_twins_merge_when_one_redirects_to_the_other() -> None:
    twins = Twins()
    moved = [twins.moved(f"http://e.org/{n}", f"https://e.org/{n}") for n in range(4)]
    assert moved == [[], [], [], ["http://e.org"]]
    assert not twins.moved("http://e.org/a", "https://e.org/b")
    assert not twins.moved("https://e.org/a", "http://e.org/a")


def test_a_twin_of_a_twin_follows_it() -> None:
    twins = Twins()
    for number in range(4):
        twins.moved(f"http://www.e.org/{number}", f"http://e.org/{number}")
    moved = [twins.moved(f"http://e.org/{n}", f"https://e.org/{n}") for n in range(4)]
    assert moved[-1] == ["http://e.org", "http://www.e.org"]
    assert set(twins.merged.values()) == {"https://e.org"}


def facts(digest: bytes, status: int = 200, alias: int = 0, state: int = State.FETCHED, simhash: int = 99) -> PageFacts:
    return PageFacts(state, alias, status, digest, simhash)


def test_claims_hold_when_the_other_page_exists_and_says_the_same() -> None:
    known = {
        1: facts(b"a"),
        2: facts(b"a"),
        3: facts(b"b", simhash=-1),
        4: facts(b"", status=404, state=State.GONE),
        5: facts(b"", status=301, simhash=0),
        6: facts(b"a", state=State.QUEUED, status=0),
        7: facts(b"c", simhash=98),
        8: facts(b"", simhash=0),
        9: facts(b"", simhash=0),
    }
    assert settled([(1, 2)], known) == [(1, 2)]
    assert settled([(1, 3)], known) == []  # says something else
    assert settled([(1, 4), (1, 6), (1, 77)], known) == []  # is not there, or not yet
    assert settled([(5, 2)], known) == [(5, 2)]
    assert settled([(7, 2)], known) == [(7, 2)]  # nearly the same
    assert settled([(8, 9)], known) == []  # without text there is no proof
    assert settled([(1, 2), (2, 1)], known) == [(1, 2)]  # they name each other, so one of them is kept
    ring = {**known, 2: facts(b"a", alias=7), 7: facts(b"a", alias=1)}
    assert settled([(1, 2)], ring) == []  # a cycle ends where it began
    assert settled([(4, 5), (5, 2)], {**known, 4: facts(b"", status=301, simhash=0)}) == [(5, 2), (4, 2)]  # moved twice
    assert settled([(2, 1), (7, 2)], known) == [(2, 1), (7, 1)]  # a chain has one end
    assert settled([(1, 2)], {**known, 1: facts(b"a", alias=2)}) == []  # known already


def test_what_a_killed_run_had_seen_still_counts() -> None:
    def resumed(parameters: QueryParameters) -> QueryParameters:
        return QueryParameters(msgspec.convert(msgspec.to_builtins(parameters.keep("", set())), KeptIdentity))

    parameters = QueryParameters(KeptIdentity())
    visits = [(page, value) for value in ("home", "foot") for page in "abc"]
    for page, value in visits:
        same = see(parameters, f"/{page}?ref={value}", page)
        parameters = resumed(parameters)
    assert same is not None and parameters.names == {"ref"}
    assert parameters.first[identity(E + "/a")] == identity(E + "/a?ref=home")
