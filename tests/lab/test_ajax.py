"""The experiment with comments behind events, small."""

import pytest

from lab.ajax import comments
from lab.comment_site import AT_ONCE, WAYS, CommentSite
from tests.rendering.rendering import browser


@pytest.mark.parametrize("way", WAYS)
def test_every_comment_is_found_once(way: str) -> None:
    program = browser()
    wanted = 2 * AT_ONCE + 30
    with CommentSite([wanted] * len(WAYS)) as site:
        found = comments(program, site, WAYS.index(way))
    assert (found.distinct, found.twice) == (wanted, 0)
