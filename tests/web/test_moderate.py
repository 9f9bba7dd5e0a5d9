"""What the API accepts: not what would exhaust the machine of the one who runs the server."""

import os
from pathlib import Path

import pytest

from sanderling.errors import BadSetting
from sanderling.web.running import Runner, change
from sanderling.web.shelf import Shelf

CORES = os.cpu_count() or 1


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"clients": 1000}, f"clients = 1,000 is too much; this server allows at most {4 * CORES:,}"),
        ({"connections": 16_000}, "connections = 16,000 is too much; this server allows at most 4,000"),
        ({"per_host": 5000}, "per_host = 5,000 is too much; this server allows at most 100"),
        ({"retries": 10**9}, "retries = 1,000,000,000 is too much; this server allows at most 20"),
        ({"max_body": "2GiB"}, "max_body = 2,147,483,648 is too much; this server allows at most 1,073,741,824"),
        ({"fetch_timeout": "1000h"}, "fetch_timeout = 3,600,000.0 is too much; this server allows at most 3,600"),
        ({"exclude": ["x"] * 1001}, "exclude has 1,001 entries; this server allows at most 1,000"),
    ],
)
def test_settings_from_the_api_are_moderate(tmp_path: Path, chosen: dict[str, object], told: str) -> None:
    with pytest.raises(BadSetting) as error:
        Runner(Shelf([tmp_path]), allow_private=True).create("much", ["http://127.0.0.1/"], chosen)
    assert str(error.value) == told
    assert not (tmp_path / "much").exists()


def test_usual_settings_are_accepted_and_changes_are_checked_too(tmp_path: Path) -> None:
    runner = Runner(Shelf([tmp_path]), allow_private=True)
    folder = runner.create("fine", ["http://127.0.0.1/"], {"clients": 4 * CORES, "delay": "10s", "per_host": 16})
    with pytest.raises(BadSetting, match="include has 1,001 entries"):
        change(folder, {"include": ["x"] * 1001})
