"""Secrets stay out of messages and command lines, and text from the web out of the terminal's
controls."""

import json
import os
from argparse import Namespace
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.serve import token_of
from sanderling.errors import BadSetting, UsageError
from sanderling.presenting.screen import harmless_json
from sanderling.server.requests.control import amend_file
from sanderling.settings import read_value
from sanderling.testing.postgres import PostgresServer
from sanderling.web.running import Runner
from sanderling.web.shelf import Shelf
from tests.conftest import FAST, Run
from tests.search_library import Library
from tests.servers import PageServer, links


def test_a_token_may_come_from_a_file_or_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from a file, long enough\n")
    monkeypatch.setenv("SANDERLING_TOKEN", "from the environment")
    assert token_of(Namespace(token=None, token_file=file)) == "from a file, long enough"
    assert token_of(Namespace(token="from the command line", token_file=None)) == "from the command line"
    assert token_of(Namespace(token=None, token_file=None)) == "from the environment"
    assert "SANDERLING_TOKEN" not in os.environ  # the crawls that the server starts do not inherit it
    assert token_of(Namespace(token=None, token_file=None)) == ""
    with pytest.raises(UsageError, match="only one of --token and --token-file"):
        token_of(Namespace(token="", token_file=file))


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


def test_settings_are_for_their_owner_only(sanderling: Run, tmp_path: Path) -> None:
    """Also after they were changed; a mode that the user chose is kept."""
    place = tmp_path / "crawl" / "sanderling.toml"
    with PageServer({"/": b"a page"}) as server:
        assert sanderling("crawl", server.origin, "-d", tmp_path / "crawl").code == 0
    assert place.stat().st_mode & 0o777 == 0o600
    amend_file(place, {"max_pages": 5})
    assert place.stat().st_mode & 0o777 == 0o600
    place.chmod(0o640)
    amend_file(place, {"max_pages": 6})
    assert place.stat().st_mode & 0o777 == 0o640


def test_a_proxy_may_be_kept_in_the_environment_or_in_a_file(sanderling: Run, tmp_path: Path) -> None:
    """The folder does not know it, and every client uses it."""
    folder, file = tmp_path / "crawl", tmp_path / "proxy"
    with PageServer({"http://host.test/": b"a page"}) as proxy:
        address = proxy.origin.replace("://", "://user:s3cret@")
        file.write_text(address + "\n")
        crawl = ("crawl", "http://host.test/", "-d", folder, *FAST, "--proxy")
        missing = sanderling(*crawl, "env:NOT_SET")
        assert (missing.code, folder.exists()) == (2, False)
        assert "the environment variable NOT_SET is not set" in missing.err
        assert sanderling(*crawl, "env:OUR_PROXY", env={"OUR_PROXY": address}).code == 0
        assert sanderling(*crawl, f"file:{file}", "--again").code == 0
        assert proxy.requests["http://host.test/"] == 2
        wrong = sanderling(*crawl, "env:OUR_PROXY", env={"OUR_PROXY": "gopher://user:s3cret@h"})
        assert (wrong.code, "s3cret" in wrong.err) == (2, False)
    kept = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    assert kept and not any(b"s3cret" in content for content in kept)
    assert 'proxy = "env:OUR_PROXY"' in (folder / "sanderling.toml").read_text()


def test_a_store_may_be_kept_in_the_environment(sanderling: Run, postgres: PostgresServer, tmp_path: Path) -> None:
    folder, env = tmp_path / "crawl", {"OUR_STORE": f"{postgres.dsn}&password=s3cret"}
    with PageServer({"/": links("/a"), "/a": b"a page"}) as server:
        crawl = ("crawl", server.origin, "-d", folder, *FAST)
        assert sanderling(*crawl, "--store", "env:OUR_STORE", "--max-pages", 1, env=env).code == 0
        assert sanderling(*crawl, "--max-pages", 2, env=env).code == 0
    assert sanderling("status", folder, "--json", env=env).json["pages"] == 2
    settings = (folder / "sanderling.toml").read_text()
    assert 'store = "env:OUR_STORE?options=-csearch_path%3Dcrawl_crawl_' in settings and "s3cret" not in settings
    without = sanderling("status", folder)
    assert (without.code, len(without.err.splitlines())) == (2, 1)
    assert "OUR_STORE is not set" in without.err


def test_the_api_reads_no_secrets_of_the_server(tmp_path: Path) -> None:
    runner = Runner(Shelf([tmp_path]), allow_private=True)
    with pytest.raises(BadSetting, match="has to be an address"):
        runner.create("new", ["http://host.test/"], {"proxy": "file:/etc/passwd"})


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
