"""`sanderling notify`: who is told of changes, a test of each address, and a look at the text."""

import argparse
import sys
import threading
from itertools import islice

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.webhooks import show
from sanderling.errors import RunFailed
from sanderling.presenting.screen import harmless
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import ChangeStore
from sanderling.settings import Settings, load
from sanderling.telling import record as records
from sanderling.telling.delivery import deliver_all, sole_messenger
from sanderling.telling.notification import trial
from sanderling.telling.receivers import AddressReceiver, addresses
from sanderling.telling.record import DeliveryRecord
from sanderling.telling.service import notify

_ABOUT = """Shows the addresses in sanderling.toml that are told of changes, and how far each is.

A running crawl notifies by itself. --preview prints what each address would be sent for the latest changes. --test
sends each a message without changes. --deliver sends the remaining changes without waiting for the next crawl or digest.
"""
_LATEST = 3


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("notify", description=_ABOUT)
    add_folder(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--preview", action="store_true", help="print the subject and the text for the latest changes")
    act.add_argument("--test", action="store_true", help="send each address a message without changes")
    act.add_argument("--deliver", action="store_true", help="send the remaining changes now")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        newest = store.newest_version()
        settings = load(folder.settings)[0]
        told = addresses(settings)
        if options.preview:
            for each in told:
                _preview(store, each)
            return 0
    for each in told:
        records.enrol(folder.webhooks, each.key, newest)
    if not told and not options.json:
        sys.stdout.write(f"nobody is notified: {folder.settings} has no `notify`; see docs/telling.md\n")
    complaints = {each.key: notify(trial(each.asked), each.asked).complaint_or_none for each in told if options.test}
    if options.deliver:
        _deliver(folder, settings)
    failed = []
    for each in told:
        kept = records.read(folder.webhooks, each.key) or DeliveryRecord(delivered=newest)
        complaint = complaints.get(each.key, "")
        show(kept, {"to": each.asked.without_secrets, "when": each.when}, newest, complaint, options.json)
        if complaint or (options.deliver and kept.failures):
            failed.append(f"{each.asked.without_secrets}: {complaint or kept.complaint}")
    if failed:
        raise RunFailed("; ".join(failed))
    return 0


def _deliver(folder: Folder, settings: Settings) -> None:
    ended = threading.Event()
    ended.set()
    with sole_messenger(folder):
        deliver_all(folder, msgspec.structs.replace(settings, webhook=()), ended, lambda _: None, at_once=True)


def _preview(store: ChangeStore, address: AddressReceiver) -> None:
    latest = list(islice(address.wanted(0).of(store.changes()), _LATEST))
    sent = address.text(latest[::-1]) if latest else trial(address.asked)
    text = "\n".join(f"  {harmless(line)}" for line in sent.body.splitlines())
    name = f"{address.asked.without_secrets}, {address.when}"
    sys.stdout.write(f"{name}\n  Subject: {harmless(sent.subject)}\n\n{text}\n\n")
