"""`sanderling webhooks`: how deliveries stand, a test of each, and what is left delivered now."""

import argparse
import json
import sys
import threading
import time
import uuid
from typing import Any

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.errors import RunFailed
from sanderling.presenting.screen import many
from sanderling.presenting.versions import when
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.settings import Settings, Webhook, load, without_password
from sanderling.telling import record as records
from sanderling.telling.delivery import deliver_all, sole_messenger
from sanderling.telling.receivers import WebhookReceiver
from sanderling.telling.record import DeliveryRecord
from sanderling.telling.webhook import trial

_ABOUT = """Shows the state of the deliveries to the webhooks in sanderling.toml.

A running crawl delivers by itself. --test sends each webhook a message without changes. If a disabled webhook accepts
it, the webhook is enabled again. --deliver sends the remaining changes without waiting for the next crawl.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "webhooks", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--test", action="store_true", help="send each webhook a message without changes")
    act.add_argument("--deliver", action="store_true", help="deliver the remaining changes now")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        newest = store.newest_version()
    settings = load(folder.settings)[0]
    for webhook in settings.webhook:
        records.enrol(folder.webhooks, webhook.url, newest)
    failed: list[str] = []
    complaints: dict[str, str] = {}
    if options.test:
        complaints = {webhook.url: _test(folder, settings, webhook) for webhook in settings.webhook}
        failed = [f"{without_password(url)}: {complaint}" for url, complaint in complaints.items() if complaint]
    if options.deliver:
        ended = threading.Event()
        ended.set()
        with sole_messenger(folder):
            deliver_all(folder, msgspec.structs.replace(settings, notify=()), ended, lambda _: None, at_once=True)
        kept = [(webhook.url, _record(folder, webhook)) for webhook in settings.webhook]
        failed = [f"{without_password(url)}: {record.complaint}" for url, record in kept if record.failures]
    for webhook in settings.webhook:
        _show(folder, webhook, newest, complaints.get(webhook.url, ""), options.json)
    if not settings.webhook and not options.json:
        sys.stdout.write(f"no webhooks in {folder.settings}\n")
    if failed:
        raise RunFailed("; ".join(failed))
    return 0


def _test(folder: Folder, settings: Settings, webhook: Webhook) -> str:
    """Tries one; returns what is wrong with it."""
    answer = WebhookReceiver(webhook, folder, settings).send(trial(f"msg_{uuid.uuid4().hex}"))
    if not answer.taken:
        return answer.complaint
    kept = _record(folder, webhook)
    if kept.failures:
        records.write(folder.webhooks, webhook.url, kept.revived())
    return ""


def _record(folder: Folder, webhook: Webhook) -> DeliveryRecord:
    kept = records.read(folder.webhooks, webhook.url)
    assert kept is not None
    return kept


def _show(folder: Folder, webhook: Webhook, newest: int, complaint: str, as_json: bool) -> None:
    """Shows one webhook. `complaint` is what a test just found."""
    show(_record(folder, webhook), {"url": without_password(webhook.url)}, newest, complaint, as_json)


def show(kept: DeliveryRecord, named: dict[str, str], newest: int, complaint: str, as_json: bool) -> None:
    """Shows how the deliveries to one receiver stand. The first of its names is the heading."""
    complaint = complaint or kept.complaint
    state = "disabled" if kept.disabled else "failing" if complaint else "fine"
    facts: dict[str, Any] = {
        **named, "state": state, "changes": kept.changes, "last_at": kept.last_at, "failures": kept.failures,
        "complaint": complaint, "not_before": kept.not_before, "behind": max(0, newest - kept.delivered),
    }  # fmt: skip
    if as_json:
        write_json(json.dumps(facts))
        return
    failures = f", {many(kept.failures, 'failure')} in a row" if kept.failures else ""
    lines = [
        ", ".join(named.values()),
        f"  {state}{failures}{f': {complaint}' if complaint else ''}",
        f"  {many(kept.changes, 'change')} delivered{f', the last at {when(kept.last_at)}' if kept.last_at else ''}",
        f"  {many(facts['behind'], 'version')} not yet processed",
    ]
    if kept.not_before > time.time():
        lines.append(f"  next retry after {when(kept.not_before)}")
    sys.stdout.write("\n".join(lines) + "\n")
