import ipaddress

import pytest

from sanderling.network import SPECIAL, is_public, names, names_private
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


# The IANA registries of special-purpose addresses, line by line.
REGISTERED = [
    "0.0.0.0/8",
    "0.0.0.0/32",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.9/32",
    "192.0.0.10/32",
    "192.0.0.170/32",
    "192.0.0.171/32",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.88.99.2/32",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "::1/128",
    "::/128",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001::/32",
    "2001:1::1/128",
    "2001:1::2/128",
    "2001:1::3/128",
    "2001:2::/48",
    "2001:3::/32",
    "2001:4:112::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:30::/28",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
]


@pytest.mark.parametrize("block", [*SPECIAL, *REGISTERED, "224.0.0.0/4", "ff00::/8", "fec0::/10", "168.63.129.16/32"])
def test_blocks_of_special_purpose_are_not_public(block: str) -> None:
    network = ipaddress.ip_network(block)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        assert not is_public(str(address)), address
        if network.version == 4:
            assert not is_public(f"::ffff:{address}")
            assert not is_public(f"64:ff9b::{address}")


@pytest.mark.parametrize(
    "neighbours",
    [
        "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17",
        "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.31.195.255",
        "192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255",
        "192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255",
        "2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 2620:4f:7fff:: 2620:4f:8001:: 3ffe:: 3fff:1000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ],
)
def test_their_neighbours_are_public(neighbours: str) -> None:
    assert [address for address in neighbours.split() if not is_public(address)] == []


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
