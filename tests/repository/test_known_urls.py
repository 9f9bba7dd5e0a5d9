"""Which URLs are known, whether the newest or those in sorted arrays."""

import logging

import pytest

from sanderling.repository import known_urls
from sanderling.repository.known_urls import KnownUrls
from sanderling.urls import identity


def some(first: int, last: int) -> dict[int, str]:
    texts = [f"http://e.org/{number}" for number in range(first, last)]
    return {identity(text): text for text in texts}


def numbered(first: int, last: int) -> list[tuple[int, int, str]]:
    return [(number, id, text) for number, (id, text) in enumerate(some(first, last).items(), first)]


@pytest.mark.parametrize("fewest", [1, 50, 65_536])
def test_what_was_added_is_known(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_urls, "FEWEST", fewest)
    urls = KnownUrls(numbered(0, 120))
    assert urls.unknown(some(100, 140)) == list(some(120, 140))
    for first in range(120, 500, 20):
        urls.add(numbered(first, first + 20))
    assert len(urls) == 500
    assert urls.unknown(some(0, 520)) == list(some(500, 520))
    assert urls.unknown({}) == []
    assert urls.numbers([*some(495, 520), *some(3, 5)]) == dict(
        zip([*some(495, 500), *some(3, 5)], [*range(495, 500), 3, 4], strict=True)
    )


@pytest.mark.parametrize("fewest", [1, 65_536])
def test_two_texts_with_one_identity_are_told(
    fewest: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(known_urls, "FEWEST", fewest)
    urls = KnownUrls([(1, -5, "http://e.org/a"), (2, 7, "http://e.org/b")])
    with caplog.at_level(logging.WARNING):
        assert urls.unknown({-5: "http://e.org/a", 7: "http://e.org/other", 2**62: "http://e.org/c"}) == [2**62]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["http://e.org/other"]
