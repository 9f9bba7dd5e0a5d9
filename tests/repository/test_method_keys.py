"""The keys of requests that are no GET: method and body, as pywb asks for them."""

import pytest

from sanderling.repository.method_keys import url_of_request


def request(method: str, mime: str, body: bytes) -> bytes:
    block = f"{method} / HTTP/1.1\r\nContent-Type: {mime}\r\n\r\n".encode() + body
    return b"WARC/1.1\r\nWARC-Type: request\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)


@pytest.mark.parametrize(
    ("method", "mime", "body", "added"),
    [
        ("GET", "", b"", ""),
        ("POST", "", b"", "?__wb_method=POST"),
        ("PUT", "application/x-www-form-urlencoded", b"q=a+b%26c&n=1", "?__wb_method=PUT&q=a b&c&n=1"),
        ("POST", "application/json", b'{"a": {"b": 1.0}, "c": [true, {"b": null}]}', "?__wb_method=POST&b=1&c=true&b.2_=null"),
        ("POST", "application/json", b"{", "?__wb_method=POST"),
        ("POST", "text/plain", b"no json", "?__wb_method=POST&__wb_post_data=bm8ganNvbg=="),
        ("POST", "application/octet-stream", b"\0\1", "?__wb_method=POST&__wb_post_data=AAE="),
        (
            "POST", "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\none two\r\n--x--\r\n', "?__wb_method=POST&a=one+two",
        ),
        ("POST", "application/json", b"[" * 100_000, "?__wb_method=POST"),
    ],
)  # fmt: skip
def test_what_is_added(method: str, mime: str, body: bytes, added: str) -> None:
    assert url_of_request("http://a.example/x", request(method, mime, body)) == "http://a.example/x" + added
