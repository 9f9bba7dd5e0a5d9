"""Unexpected errors are answered like all others: in one form, with all headers."""

from pathlib import Path

import anyio
import httpx
import pytest
from fastapi import FastAPI

from sanderling.web.app import create_app
from sanderling.web.pages import errors
from sanderling.web.sandbox import create_sandbox
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf


def broken(*_: object, **__: object) -> None:
    raise KeyError("nobody expected this")


def ask(app: FastAPI, path: str, accept: str = "*/*") -> httpx.Response:
    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers={"accept": accept})

    return anyio.run(asked)


@pytest.fixture
def shelf(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setattr(Shelf, "reading", broken)
    return Shelf([crawled])


def test_a_mistake_has_all_headers(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(shelf, Security(port=80))
    expected = ask(app, "/api/v1/crawls/unknown").headers
    program = ask(app, "/api/v1/crawls/small/search?q=x")
    person = ask(app, "/crawls/small/search?q=x", "text/html")
    monkeypatch.setattr(errors, "show", broken)
    without_a_page = ask(app, "/crawls/small/search?q=x", "text/html")
    for answer in (program, person, without_a_page):
        assert answer.status_code == 500
        assert "bug in Sanderling" in answer.text
        assert "nobody expected" not in answer.text
        for header in set(expected) - {"content-length", "content-type"}:
            assert answer.headers[header] == expected[header]
    assert program.headers["content-type"] == without_a_page.headers["content-type"] == "application/problem+json"
    assert "<h1" in person.text


def test_a_mistake_in_the_sandbox(shelf: Shelf) -> None:
    security = Security(port=80)
    app = create_sandbox(shelf, security)
    answer = ask(app, security.archive_link("", "small", 1))
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    expected = ask(app, "/nothing").headers
    for header in set(expected) - {"content-length"}:
        assert answer.headers[header] == expected[header]
