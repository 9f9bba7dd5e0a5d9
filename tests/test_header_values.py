"""Numbers and dates in headers are ASCII digits of bounded length, or absent."""

import ast
import time
from pathlib import Path

import pytest

import sanderling
from sanderling.browser.static_cache import UNSAID, lifetime
from sanderling.client.cookies import CookieJar
from sanderling.client.cutting import _nearly_here
from sanderling.client.fetcher import Response
from sanderling.client.unread import _retry_after
from sanderling.header_values import moment, whole_number
from sanderling.telling.post import _seconds

STRANGE = ["²", "٣", "-", "--5", "+5", "1e9", "0x10", "9" * 5000, "5 5", "５", "", "NaN", "inf"]


@pytest.mark.parametrize("text", STRANGE)
def test_a_strange_number_is_absent_wherever_a_header_has_one(text: str) -> None:
    assert whole_number(text) is None
    jar = CookieJar("http://site.example")
    jar.take(f"a=b; Max-Age={text}", "http://site.example/")
    jar.read(f"site.example\tFALSE\t/\tFALSE\t{text}\tc\td\n")
    assert jar.header("http://site.example/") == "a=b; c=d"  # as if the header said nothing
    assert _retry_after(text, text) == 0
    assert _seconds(text) == 0
    assert not _nearly_here({b"content-length": text.encode()})
    response = Response()
    response.status, response.lines = 200, [b"HTTP/1.1 200 OK", f"Cache-Control: max-age={text}".encode()]
    assert lifetime("Stylesheet", response) == UNSAID


def test_a_number_in_ascii_digits_is_read() -> None:
    assert whole_number(" 42 ") == whole_number(b"42") == 42
    assert whole_number("1000", 3) is None
    jar = CookieJar("http://site.example")
    jar.take("a=b; Max-Age=100", "http://site.example/")
    assert jar.header("http://site.example/") == "a=b"
    jar.take("a=b; Max-Age=-1", "http://site.example/")
    assert jar.header("http://site.example/") == ""


@pytest.mark.parametrize(
    "text", ["Thu, ² Jan 2026 00:00:00 GMT", "Thu, 01 Jan 99999999999 00:00:00 GMT", "x" * 10_000, ""]
)
def test_a_strange_date_is_absent(text: str) -> None:
    assert moment(text) is None


def test_a_date_is_read() -> None:
    assert moment("Thu, 01 Jan 1970 00:01:00 GMT") == 60
    assert moment("Thu, 01 Jan 2099 00:00:00 GMT") > time.time()  # type: ignore[operator]


def test_dates_of_strangers_are_read_in_one_place() -> None:
    """The parser of the standard library raises five kinds of errors; `moment` knows them all."""
    package = Path(sanderling.__file__).parent
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and any(name.name == "parsedate_to_datetime" for name in node.names)
    }
    assert users == {"header_values.py", "testing/answers.py"}
