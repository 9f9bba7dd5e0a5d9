"""Whoever is told of changes: the webhooks and the addresses of a crawl, each with its filter."""

import time
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from sanderling.model import VersionRow
from sanderling.network import agent
from sanderling.network.reach import ANYWHERE, PUBLIC
from sanderling.repository.folder import Folder
from sanderling.settings import Settings, Webhook, revealed
from sanderling.subscriptions import AT_ONCE, Notify
from sanderling.telling.answer import DeliveryAnswer
from sanderling.telling.notification import Notification, notification
from sanderling.telling.post import post
from sanderling.telling.secret import secret_of
from sanderling.telling.selection import ChangeFilter, kinds_named
from sanderling.telling.service import notify
from sanderling.telling.webhook import MOST_CHANGES, WebhookMessage, headers, message
from sanderling.urls import hostname
from sanderling.watches import Watch

MOST_IN_A_DIGEST = 5000
GAP = 60.0


class ChangeReceiver(Protocol):
    """One receiver of changes."""

    key: str  # of the record of what it got
    name: str  # for messages; without secrets
    when: str  # at once, or when a digest is due
    most: int  # changes in one delivery
    gap: float  # seconds between two deliveries, so that a crawl is not a hundred mails
    baseline: bool

    def wanted(self, after: int) -> ChangeFilter: ...

    def deliver(self, found: list[VersionRow]) -> DeliveryAnswer: ...


def receivers(folder: Folder, settings: Settings) -> list[ChangeReceiver]:
    return [
        *(WebhookReceiver(each, folder, settings) for each in settings.webhook),
        *addresses(settings),
    ]


def wanted_by(asked: Webhook | Notify, after: int) -> ChangeFilter:
    """The changes that somebody asked for, of the versions after a number."""
    return ChangeFilter(
        kinds=kinds_named(asked.kinds), significance=asked.min_significance, hosts=asked.hosts, login=asked.login,
        after=after,
    )  # fmt: skip


class WebhookReceiver:
    """A program of the user's."""

    when, most, gap = AT_ONCE, MOST_CHANGES, 0.0

    def __init__(self, webhook: Webhook, folder: Folder, settings: Settings) -> None:
        self._webhook, self._folder, self._settings = webhook, folder, settings
        self.key, self.baseline = webhook.url, webhook.baseline
        self.name = f"the webhook at {hostname(webhook.url)}"

    def wanted(self, after: int) -> ChangeFilter:
        return wanted_by(self._webhook, after)

    def deliver(self, found: list[VersionRow]) -> DeliveryAnswer:
        return self.send(message(found))

    def send(self, sent: WebhookMessage) -> DeliveryAnswer:
        """Tries once to deliver a message."""
        signed = headers(sent, secret_of(self._webhook, self._folder.path), time.time())
        reach = ANYWHERE if self._webhook.allow_private or self._settings.allow_private else PUBLIC
        return post(
            self._webhook.url, signed, sent.body, agent=agent(self._settings), proxy=revealed(self._settings).proxy,
            reach=reach,
        )  # fmt: skip


class AddressReceiver:
    """A person, by mail, chat or another service."""

    most, gap = MOST_IN_A_DIGEST, GAP

    def __init__(self, asked: Notify, watches: Sequence[Watch] = (), only: Iterable[str] | None = None) -> None:
        """`only` are the pages that it is told of; None for all."""
        self.asked, self.when, self.baseline = asked, asked.when, asked.baseline
        self.only = None if only is None else frozenset(only)
        self.key = f"{asked.key} watches" if only is not None and not asked.tags else asked.key
        self.name = f"notify {asked.without_secrets}"
        self._titles = {watch.url: watch.title for watch in watches}

    def wanted(self, after: int) -> ChangeFilter:
        return msgspec.structs.replace(wanted_by(self.asked, after), urls=self.only)

    def text(self, found: Sequence[VersionRow]) -> Notification:
        return notification(found, self.asked, self._titles)

    def deliver(self, found: list[VersionRow]) -> DeliveryAnswer:
        return notify(self.text(found), self.asked)


def addresses(settings: Settings) -> list[AddressReceiver]:
    """Whoever `notify` names, and those whom watches name for their own pages."""
    watches = settings.watch
    found = [
        AddressReceiver(
            asked, watches, [each.url for each in watches if set(each.tags) & set(asked.tags)] if asked.tags else None
        )
        for asked in settings.notify
    ]
    told_all = {asked.to for asked in settings.notify if not asked.tags}
    own: dict[str, list[str]] = {}
    for watch in watches:
        for to in watch.notify:
            if to not in told_all:
                own.setdefault(to, []).append(watch.url)
    return [*found, *(AddressReceiver(Notify(to), watches, urls) for to, urls in own.items())]
