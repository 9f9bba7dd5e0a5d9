import pytest

from sanderling.network import is_public, names, names_private
from sanderling.settings import Settings


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::",
        "198.18.0.1", "192.0.2.1", "not an address",
    ],
)  # fmt: skip
def test_private(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_public(address: str) -> None:
    assert is_public(address)


def test_names_that_say_it_themselves() -> None:
    assert names_private("localhost")
    assert names_private("a.localhost")
    assert names_private("[::1]")
    assert names_private("127.0.0.1")
    assert not names_private("example.org")


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Settings().user_agent, {"sanderling"}),
        ("MyBot", {"mybot"}),
        ("My-Bot/2.0 (+https://example.org/bot/1)", {"my-bot"}),
        ("Mozilla/5.0 (compatible; MyBot/1.0; +https://example.org/)", {"mozilla", "mybot"}),
    ],
)
def test_the_crawler_is_called_by_the_products_in_its_user_agent(agent: str, expected: set[str]) -> None:
    assert names(Settings(user_agent=agent)) == expected
