"""Single requests lead where a request of a crawl may lead, also through a proxy."""

import pytest

from sanderling.network import one_request
from sanderling.network.reach import ANYWHERE, NetworkReach
from tests.servers import Answer, PageServer, Socks, listening

NAMES = {"outside.example": ["93.184.216.34"], "inside.example": ["10.0.0.7"], "both.example": ["93.184.216.34", "::1"]}


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_request, "addresses_of", lambda name: NAMES.get(name, []))


@pytest.mark.parametrize("name", ["inside", "both"])
@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_a_proxy_is_not_asked_for_private_addresses(kind: str, name: str) -> None:
    with PageServer({}) as proxy:
        told = proxy.origin.replace("http", kind, 1)
        answer = one_request.request(f"http://{name}.example/", agent="a", proxy=told)
        assert "leads to the private address" in answer.error and not proxy.asked
        elsewhere = NetworkReach(addresses=("10.0.0.8",))
        assert "private" in one_request.request(f"http://{name}.example/", agent="a", proxy=told, reach=elsewhere).error


def test_a_proxy_is_asked_for_what_may_be_reached() -> None:
    with PageServer({f"http://{name}.example/": Answer(b"a page") for name in ("outside", "inside")}) as proxy:

        def ask(name: str, reach: NetworkReach) -> int:
            url = f"http://{name}.example/"
            return one_request.request(url, agent="a", proxy=proxy.origin, reach=reach).status

        assert ask("outside", NetworkReach()) == 200
        assert ask("inside", NetworkReach(addresses=("10.0.0.7",))) == 200
        assert ask("inside", ANYWHERE) == 200


def test_a_socks_proxy_is_told_the_address_that_was_judged() -> None:
    with PageServer({"/": b"a page"}) as target:
        socks = Socks(target.origin)
        with listening(socks) as (host, port):
            told = f"socks5://{host}:{port}"
            assert one_request.request("http://outside.example/", agent="a", proxy=told).status == 200
            assert set(socks.names) == {"93.184.216.34"}
            # libcurl would ask a resolver itself, and nobody would have judged its answer.
            unknown = one_request.request("http://unknown.example/", agent="a", proxy=told)
    assert "cannot be resolved" in unknown.error and set(socks.names) == {"93.184.216.34"}


@pytest.mark.parametrize("name", ["localhost", "printer.local", "vault.internal", "127.0.0.1", "[::1]"])
def test_names_that_are_private_by_their_text(name: str) -> None:
    assert "private address" in one_request.request(f"http://{name}/", agent="a").error
