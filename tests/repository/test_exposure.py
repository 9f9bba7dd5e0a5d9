"""Other users of the machine see nothing that is private, or the user is told."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from sanderling.repository.exposure import exposed, holds_secrets
from sanderling.repository.folder import Folder
from sanderling.server.opening import open_crawl
from sanderling.settings import Login, Settings, Webhook
from sanderling.subscriptions import Notify


def _wait(problem: str) -> None:
    raise AssertionError(problem)


LOGIN = Settings(login=(Login("https://e.org/", headers={"Authorization": "env:KEY"}),))


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (Settings(), False),
        (LOGIN, False),
        (Settings(login=(Login("https://e.org/", headers={"Authorization": "Bearer secret"}),)), True),
        (Settings(webhook=(Webhook("https://e.org/"),)), False),
        (Settings(webhook=(Webhook("https://e.org/", secret="secret"),)), True),
        (Settings(notify=(Notify("mailto://me:secret@e.org"),)), True),
        (Settings(notify=(Notify("env:MAIL"),)), False),
        (Settings(proxy="http://me:secret@proxy:3128"), True),
        (Settings(proxy="http://proxy:3128"), False),
        (Settings(store="postgresql://me:secret@db/crawls"), True),
        (Settings(take_at=("https://e.org/begin#secret",)), True),
        (Settings(take_at=("https://e.org/begin#env:TOKEN",)), False),
    ],
)
def test_settings_that_hold_passwords(settings: Settings, found: bool) -> None:
    assert holds_secrets(settings) is found


def test_the_first_run_with_a_login_makes_its_folder_private(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "crawl")
    folder.path.mkdir(mode=0o755)
    for expected in ([], ["chmod 700"]):  # a user who opens it again is told, and not overruled
        with ExitStack() as undo:
            opened = open_crawl(folder, LOGIN, ["https://e.org/"], undo, _wait)
            assert [said for said in opened.messages if expected and expected[0] in said] == opened.messages
            assert len(opened.messages) == len(expected)
        folder.path.chmod(0o755)


def test_a_file_with_passwords_that_others_can_read_is_said(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    settings = Settings(proxy="http://me:secret@proxy:3128")
    folder.settings.touch(mode=0o644)
    folder.settings.chmod(0o644)
    (said,) = exposed(folder, settings)
    assert f"chmod 600 {folder.settings}" in said and "secret" not in said
    folder.settings.chmod(0o600)
    assert exposed(folder, settings) == [] == exposed(folder, Settings())
