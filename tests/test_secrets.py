"""Secrets stay out of messages and command lines, and text from the web out of the terminal's controls."""

import json
import os
from argparse import Namespace
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.serve import _token
from sanderling.errors import BadSetting, UsageError
from sanderling.presenting.screen import harmless_json
from sanderling.settings import read_value
from tests.search_library import Library


def test_a_token_may_come_from_a_file_or_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from a file, long enough\n")
    monkeypatch.setenv("SANDERLING_TOKEN", "from the environment")
    assert _token(Namespace(token=None, token_file=file)) == "from a file, long enough"
    assert _token(Namespace(token="from the command line", token_file=None)) == "from the command line"
    assert _token(Namespace(token=None, token_file=None)) == "from the environment"
    assert "SANDERLING_TOKEN" not in os.environ  # the crawls that the server starts do not inherit it
    assert _token(Namespace(token=None, token_file=None)) == ""
    with pytest.raises(UsageError, match="only one of --token and --token-file"):
        _token(Namespace(token="", token_file=file))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("proxy", "ftp://user:s3cret@proxy.example:1"),
        ("proxy", "user:s3cret@proxy.example"),
        ("proxy", "http://user:s3c/ret@"),
        ("proxy", "http://user:s3cret@proxy.example\n"),
        ("store", "mysql://user:s3cret@host/db"),
        ("store", "postgresql://user:s3@cret@host"),
    ],
)
def test_a_wrong_address_is_told_without_its_password(name: str, value: str) -> None:
    with pytest.raises(BadSetting) as error:
        read_value(name, value)
    assert "s3c" not in str(error.value) and "cret" not in str(error.value)
    assert "user:...@" in str(error.value)


def test_json_escapes_what_could_control_a_terminal() -> None:
    text = "a\x7f\x9b31m \u202eevil\u2069 \u200b \ud800 \U000e0041 é ☃ 😀"
    shown = harmless_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert all(raw not in shown for raw in "\x7f\x9b\u202e\u2069\u200b\ud800\U000e0041")
    assert "é ☃ 😀" in shown


def test_every_listing_is_printed_so(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    library.page("http://library.test/", "<title>\u202egnp.exe</title><p>\u202eword")
    folder, url = str(library.folder.path), "http://library.test/"
    for line in (
        ["pages", folder], ["changes", folder, "--all"], ["history", folder, url], ["blame", folder, url],
        ["digest", folder, "--all", "--since", "2000-01-01"], ["search", folder, "word"], ["status", folder],
    ):  # fmt: skip
        assert main([*line, "--json"]) == 0
        assert "\u202e" not in capsys.readouterr().out
