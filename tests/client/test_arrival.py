"""What a client keeps of a response's headers."""

import pytest

from sanderling.client.arrival import arrival_of
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Request, Response
from sanderling.client.polite_host import PoliteHost
from sanderling.settings import Settings
from tests.client.fakes import task

THEN, LATER = "Wed, 18 Nov 2026 11:00:00 GMT", "Wed, 18 Nov 2026 11:00:01 GMT"


@pytest.mark.parametrize(("date", "kept"), [(THEN, ""), (LATER, THEN), ("", THEN)])
def test_the_date_of_a_page_that_may_change_within_its_second_is_no_validator(date: str, kept: str) -> None:
    """Such a page would be "not modified" for ever, whatever was written later in that second."""
    asked = Request("http://e.org/", True, 100)
    fetch = Fetch(task(asked.url), PoliteHost("http://e.org", True, Settings()), asked)
    fetch.response = Response()
    said = [f"Last-Modified: {THEN}", 'ETag: "1"', *([f"Date: {date}"] if date else [])]
    fetch.response.status, fetch.response.lines = 200, [b"HTTP/1.1 200 OK", *map(str.encode, said)]
    known = arrival_of(fetch).known
    assert (known.get(b"last-modified", ""), known[b"etag"]) == (kept, '"1"')
