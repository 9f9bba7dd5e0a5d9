"""Capture indexes have the keys by which replay tools look captures up."""

import pytest

from sanderling.repository.surt import surt

# What the package `surt` 0.3.1, which pywb and cdxj-indexer use, makes of these URLs.
KEYS = {
    "http://e.org/": "org,e)/",
    "http://www.e.org/a/": "org,e)/a",
    "https://www2.e.org/A//b/../c/?b=2&a=1&A=0": "org,e)/a/c?a=0&a=1&b=2",
    "http://www1x.e.org/": "org,e,www1x)/",
    "http://127.0.0.1:8080/x": "1,0,0,127:8080)/x",
    "http://[::1]/x": "::1)/x",
    "http://e.org:8080/": "org,e:8080)/",
    "https://e.org:444/": "org,e:444)/",
    "http://e.org/?q": "org,e)/?q",
    "http://e.org/?q=&q": "org,e)/?q&q=",
    "http://e.org/?a=b=c&a=b": "org,e)/?a=b&a=b=c",
    "http://e.org//": "org,e)/",
    "http://e.org//a//": "org,e)/a",
    "http://e.org/a%2541%20b?c%23d=%2B": "org,e)/aa%20b?c%23d=+",
    "http://e.org/%C3%A4?%C3%BC": "org,e)/%c3%a4?%c3%bc",
    "http://e.org/a%2Fb%2F..%2Fc": "org,e)/a/c",
    "http://e.org/a?x=1&PHPSESSID=0123456789abcdef0123456789abcdef": "org,e)/a?&x=1",
    "http://e.org/(abcdefghijklmnopqrstuvwx)/page.aspx": "org,e)/page.aspx",
    "ftp://e.org/a/b/": "org,e)/a/b",
}


@pytest.mark.parametrize("url", KEYS)
def test_keys_are_those_of_replay_tools(url: str) -> None:
    assert surt(url) == KEYS[url]
