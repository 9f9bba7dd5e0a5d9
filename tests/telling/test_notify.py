"""Notifications by Apprise: to a real SMTP server and a real HTTP receiver."""

import email
import os
from collections.abc import Iterator
from email.policy import default as mail_policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from sanderling.errors import BadSetting
from sanderling.settings import load, read_value
from sanderling.subscriptions import Notify
from sanderling.telling.notification import notification
from sanderling.telling.schedule import due
from sanderling.telling.service import without_secrets
from sanderling.testing import DAY, SyntheticWeb
from tests.conftest import FAST, Run
from tests.servers import closed
from tests.telling.endpoint import Endpoint
from tests.telling.versions import version


class Mailbox:
    """An SMTP server that keeps what it receives."""

    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:
        self.mails.append(email.message_from_bytes(envelope.content, policy=mail_policy))
        return "250 kept"


class _AnyPort(Controller):
    """Listens at a port that the system chooses."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, str]]:
    box = Mailbox()
    controller = _AnyPort(box, hostname="127.0.0.1", port=0)
    controller.start()
    yield box, f"mailto://127.0.0.1:{controller.port}?from=crawl@example.org&to=me@example.org"
    controller.stop()


def asked(folder: Path, *lines: str) -> None:
    with (folder / "sanderling.toml").open("a") as file:
        file.write("\n".join(lines) + "\n")


def test_changes_arrive_by_mail_and_over_http_once(
    sanderling: Run, tmp_path: Path, mailbox: tuple[Mailbox, str]
) -> None:
    folder = tmp_path / "crawl"
    box, address = mailbox
    with Endpoint() as endpoint, SyntheticWeb(pages=30, seed=8, change_rate=0.4).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        (folder / "address").write_text(address)
        asked(
            folder, "[[notify]]", 'to = "file:address"', "[[notify]]", f'to = "json://127.0.0.1:{endpoint.port}/hook"'
        )
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        sanderling("notify", folder, "--deliver")
        sanderling("notify", folder, "--deliver")  # nothing is left, so nothing is sent
        told = sanderling("changes", folder, "--json").lines
        text = "\n".join(mail.get_body(("plain",)).get_content() for mail in box.mails)
        assert told and all(text.split().count(row["url"]) == 1 for row in told)
        assert "changes on 127.0.0.1" in box.mails[0]["Subject"] or len(told) == 1
        assert all(row["url"].encode() in b"".join(post.body for post in endpoint.posted) for row in told)
        shown = sanderling("notify", folder, "--json").lines
        assert [(row["state"], row["behind"], row["changes"]) for row in shown] == [("fine", 0, len(told))] * 2
        preview = sanderling("notify", folder, "--preview").out
        assert "Subject:" in preview and told[0]["url"] in preview


def test_a_digest_waits_for_its_time(sanderling: Run, tmp_path: Path, mailbox: tuple[Mailbox, str]) -> None:
    folder = tmp_path / "crawl"
    box, address = mailbox
    with SyntheticWeb(pages=20, seed=8, change_rate=0.4).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        asked(folder, "[[notify]]", f'to = "{address}"', 'when = "daily"', 'subject = "{{ count }} today"')
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        assert box.mails == []
        sanderling("notify", folder, "--deliver")
        (mail,) = box.mails
        assert mail["Subject"] == f"{len(sanderling('changes', folder, '--json').lines)} today"


def test_a_failure_is_told_without_the_secret_and_repeated(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with closed() as absent, SyntheticWeb(pages=3, seed=8).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        port = absent.rpartition(":")[2].partition("/")[0]
        asked(folder, f'notify = ["json://anna:hunter2@127.0.0.1:{port}/token77"]')
        tested = sanderling("notify", folder, "--test")
        assert tested.code == 1
        assert "json://…" in tested.out + tested.err
        for secret in ("hunter2", "token77", "anna"):
            assert secret not in tested.out + tested.err
            assert secret not in sanderling("notify", folder, "--json").out


def test_text_of_the_web_calls_nobody_and_templates_reach_nothing() -> None:
    row = version(1, title="@everyone <!channel> hello", summary="new")
    said = notification([row], Notify("json://x"))
    assert "@everyone" not in said.subject and "<!channel>" not in said.body
    harmful = Notify("json://x", body="{{ ''.__class__.__mro__ }}")
    assert "fails" in notification([row], harmful).body


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (["nonsense"], "to must be an address"),
        ([{"to": "json://x", "when": "sometimes"}], "when must be"),
        ([{"to": "json://x", "body": "{{"}], "body is not a template"),
        ([{"to": "json://x", "kind": ["text"]}], "did you mean kinds"),
        (["json://x", "json://x"], "same address twice"),
        ("json://x", "notify is wrong"),
    ],
)
def test_a_wrong_address_gets_one_sentence(value: Any, why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        read_value("notify", value)


def test_secrets_are_read_from_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "sanderling.toml").write_text('seeds = []\nnotify = ["file:mail"]\n')
    (found,) = load(tmp_path / "sanderling.toml")[0].notify
    assert found.to == f"file:{tmp_path / 'mail'}"
    assert "hunter2" not in repr(Notify("mailto://anna:hunter2@example.org"))
    assert without_secrets("hunter%402 failed at example.org:25", "mailto://anna:hunter%402@example.org:25") == (
        "… failed at example.org:25"
    )


def test_when_a_digest_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "TZ", "UTC")
    noon = 1_700_049_600.0  # 2023-11-15 12:00 UTC
    assert due("at once", noon, noon + 5) == noon
    assert due("hourly", noon, noon + 5) == noon + 3600
    assert due("weekly", noon, noon + 5) == noon + 7 * DAY
    assert 0 < due("daily 08:00", noon, noon + 5) - noon <= DAY
    assert due("daily", noon + 50 * DAY, noon) == noon + DAY  # the clock was set back
