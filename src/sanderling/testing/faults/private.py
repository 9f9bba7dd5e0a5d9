"""The ways to write an address that a crawler must not visit."""

from urllib.parse import urlsplit

_LOOPBACK = {
    "loopback": "127.0.0.1",
    "localhost": "localhost",
    "localhost-dot": "localhost.",
    "decimal": "2130706433",
    "hex": "0x7f.0.0.1",
    "hex-whole": "0x7f000001",
    "octal": "0177.0.0.1",
    "short": "127.1",
    "zero": "0",
    "unspecified": "0.0.0.0",
    "other-loopback": "127.8.8.8",
    "mapped": "[::ffff:127.0.0.1]",
    "mapped-hex": "[::ffff:7f00:1]",
    "ipv6-loopback": "[::1]",
    "ipv6-unspecified": "[::]",
    "nat64": "[64:ff9b::7f00:1]",
    "6to4": "[2002:7f00:1::]",
    "fullwidth": "127。0。0。1",
    "userinfo": "example.com@127.0.0.1",
}
_ELSEWHERE = {
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "metadata-ipv6": "http://[fd00:ec2::254]/latest/meta-data/",
    "metadata-decimal": "http://2852039166/latest/meta-data/",
    "class-a": "http://10.0.0.1/",
    "class-b": "http://172.16.0.1/",
    "class-c": "http://192.168.0.1/",
    "shared": "http://100.64.0.1/",
    "link-local": "http://[fe80::1]/",
    "unique-local": "http://[fc00::1]/",
}


def private_urls(origin: str) -> dict[str, str]:
    """URLs by kind. Loopback addresses have the port of `origin`, so that a crawler that follows
    one is noticed."""
    port = urlsplit(origin).port
    return {kind: f"http://{host}:{port}/private/{kind}" for kind, host in _LOOPBACK.items()} | _ELSEWHERE
