"""Watches of other programs, as watches of ours."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.server.requests.watch_import import ImportedWatch, watches_in
from sanderling.settings import load
from tests.conftest import Run

URLWATCH = b"""
name: Kettle
url: https://shop.example/p/7
filter:
  - css:
      selector: .price
      exclude: .old
  - html2text
  - grepi: Last login
---
url: https://shop.example/p/8
use_browser: true
wait_for_selector: '#stock'
filter:
  - element-by-id: stock
  - keep_lines_containing: {re: 'In stock|Few'}
  - jq: .a
tags: [shop]
---
navigate: https://shop.example/old
filter: xpath:id("x"),strip
---
command: ls
"""
EXPORT = {
    "settings": {"application": {"tags": {"u1": {"title": "shop"}}}},
    "watching": {
        "w1": {
            "url": "https://shop.example/p/7", "title": "Kettle", "tags": ["u1"], "paused": True,
            "include_filters": [".price", "xpath1://b", "json:$.a", "jq:.b"], "subtractive_selectors": ["nav"],
            "ignore_text": ["Last login", "/Visits: [0-9]+/i"], "trigger_text": ["in stock"],
            "time_between_check": {"minutes": 10, "hours": 1, "days": None}, "time_between_check_use_default": False,
            "notification_urls": ["json://hook.example/x"],
            "browser_steps": [{"operation": "Click element", "selector": "#more"}, {"operation": "Wait for text"}],
        },
        "w2": {"url": "https://shop.example/p/8", "time_between_check_use_default": True, "time_between_check": {"days": 1}},
    },
}  # fmt: skip


def test_jobs_of_urlwatch_and_webchanges() -> None:
    first, second, third, fourth = watches_in(URLWATCH)
    assert first == ImportedWatch(
        "https://shop.example/p/7",
        {"select": [".price"], "ignore": [".old"], "ignore_text": ["Last login"], "title": "Kettle"}, [],
    )  # fmt: skip
    assert second.given == {
        "select": ['[id="stock"]'], "keep_text": ["In stock|Few"], "wait_for": ["#stock"], "tags": ["shop"],
    }  # fmt: skip
    assert second.omitted == ["the filter jq"]
    assert third == ImportedWatch("https://shop.example/old", {"select": ['xpath:id("x")']}, [])
    assert fourth.url == "" and "ls" in fourth.omitted[0]


def test_an_export_of_changedetection_io() -> None:
    first, second = watches_in(json.dumps(EXPORT).encode())
    assert first.given == {
        "select": [".price", "xpath://b", "json:$.a"], "ignore": ["nav"],
        "ignore_text": ["(?i)Last\\ login", "(?i)Visits: [0-9]+"], "must": ["(?i)in\\ stock"], "click": ["#more"],
        "every": "4200s", "title": "Kettle", "tags": ["shop"], "notify": ["json://hook.example/x"], "paused": True,
    }  # fmt: skip
    assert first.omitted == ["the step 'Wait for text'", "jq:.b"]
    assert second == ImportedWatch("https://shop.example/p/8", {}, [])


def test_a_backup_of_changedetection_io() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("changedetection.json", json.dumps({"settings": EXPORT["settings"]}))
        for name, watch in EXPORT["watching"].items():
            archive.writestr(f"{name}/watch.json", json.dumps(watch))
    assert watches_in(packed.getvalue()) == watches_in(json.dumps(EXPORT).encode())


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"{", b"{}", b"a: [", b"- 1", b"", b"!!python/object:os.system {}"])
def test_what_is_no_list_of_watches_is_said_in_a_sentence(data: bytes) -> None:
    with pytest.raises(UsageError, match="the file"):
        watches_in(data)


def test_what_can_be_added_is_and_the_rest_is_named(sanderling: Run, tmp_path: Path) -> None:
    (tmp_path / "urls.yaml").write_bytes(URLWATCH + b"---\nurl: https://shop.example/p/9\nfilter: [{css: '['}]\n")
    ran = sanderling("watch", "import", tmp_path / "urls.yaml", "-d", tmp_path / "w")
    assert ran.code == 0 and "imported 3 watches of 5" in ran.out
    assert "left out: the filter jq" in ran.err and "'[' is not a valid selector" in ran.err and "`ls`" in ran.err
    assert len(load(tmp_path / "w" / "sanderling.toml")[0].watch) == 3
