import argparse
from pathlib import Path

import pytest

from sanderling.cli.crawl import add_settings
from sanderling.errors import BadSetting
from sanderling.settings import DECLARED, Settings, dump, load, overlay, read_value


def test_every_setting_is_declared_once_and_has_help() -> None:
    assert [each.name for each in DECLARED] == list(dict.fromkeys(each.name for each in DECLARED))
    assert {each.name for each in DECLARED} == set(Settings.__struct_fields__)
    assert all(each.help for each in DECLARED)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("delay", "500ms", 0.5), ("delay", "2m", 120.0), ("delay", 3, 3.0), ("max_time", "1d", 86400.0),
        ("max_body", "16MiB", 16 << 20), ("max_body", "1KB", 1000), ("max_body", 512, 512), ("max_bytes", "2TiB", 2 << 40),
        ("max_pages", "10", 10), ("delay_factor", "1.5", 1.5), ("scope", "domain", "domain"), ("include", ["a"], ("a",)),
    ],
)  # fmt: skip
def test_values_take_units(name: str, text: object, value: object) -> None:
    assert read_value(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("delay", "soon"), ("delay", "10 parsecs"), ("delay", -1), ("max_pages", "many"), ("max_pages", -1),
        ("max_pages", True), ("scope", "galaxy"), ("include", "a"), ("nonsense", 1), ("max_body", "1 lightyear"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_sentence(name: str, text: object) -> None:
    with pytest.raises(BadSetting) as caught:
        read_value(name, text)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_keeps_what_was_chosen(tmp_path: Path) -> None:
    settings = overlay(Settings(), {"max_pages": 7, "delay": "2s", "exclude": ["\\.pdf$"], "ignore_robots": True})
    path = tmp_path / "sanderling.toml"
    path.write_text(dump(settings, ("https://example.org/ü",)))
    assert load(path) == (settings, ("https://example.org/ü",))


def test_every_flag_can_be_turned_off_again() -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    flags = [each.name for each in DECLARED if each.unit == "flag"]
    for turned, value in (("--", True), ("--no-", False)):
        chosen = vars(parser.parse_args([turned + name.replace("_", "-") for name in flags]))
        assert {chosen[name] for name in flags} == {value}
    assert {vars(parser.parse_args([]))[name] for name in flags} == {None}


def test_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.toml"
    path.write_text("seeds = []\nmax_page = 3\n")
    with pytest.raises(BadSetting, match="max_page"):
        load(path)
    path.write_text("seeds = [")
    with pytest.raises(BadSetting, match="not valid TOML"):
        load(path)


@pytest.mark.parametrize(
    ("name", "value"), [("clients", 1001), ("connections", "20000"), ("max_pages", 10**20), ("max_body", 10**20)]
)
def test_more_than_any_machine_has_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadSetting, match=f"{name} = .* is more than"):
        read_value(name, value)
