"""Sends one notification by Apprise, which knows about 150 services by one address each."""

import logging
import re
import threading
import urllib.parse

from sanderling import credentials, plugins
from sanderling.errors import BadSetting
from sanderling.subscriptions import Notify
from sanderling.telling.answer import DeliveryAnswer
from sanderling.telling.notification import Notification

_TAKEN = 200


def notify(sent: Notification, asked: Notify) -> DeliveryAnswer:
    """Tries once to send it."""
    import apprise  # late: it takes 0.6 s, and most crawls send no notifications

    try:
        address = credentials.revealed("notify", asked.to) or ""
    except BadSetting as error:
        return DeliveryAnswer(error=str(error))
    services = apprise.Apprise()
    with _Heard() as heard:
        if not services.add(address):
            return _by_plugin(sent, address)
        taken = services.notify(title=sent.subject, body=sent.body, body_format=apprise.NotifyFormat.TEXT)
    return DeliveryAnswer(status=_TAKEN) if taken else DeliveryAnswer(error=_complaint(heard.lines, address))


def _by_plugin(sent: Notification, address: str) -> DeliveryAnswer:
    """Tries a target of an installed package, whose name is the scheme of the address."""
    try:
        target = plugins.installed(plugins.NOTIFICATION_TARGETS, address.partition("://")[0].lower())
        if target is None:
            return DeliveryAnswer(error="its address is not one that Apprise knows; see docs/telling.md")
        target(address, sent)
    except Exception as error:  # a target may raise anything, and its words may hold secrets
        return DeliveryAnswer(error=without_secrets(plugins.described(error), address))
    return DeliveryAnswer(status=_TAKEN)


class _Heard(logging.Handler):
    """What Apprise logs in this thread: the only way in which it says why something failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._thread = threading.get_ident()
        self._logger = logging.getLogger("apprise")

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.lines.append(record.getMessage())

    def __enter__(self) -> "_Heard":
        self._logger.propagate = False  # its lines may hold secrets
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)


def _complaint(lines: list[str], address: str) -> str:
    said = " ".join(" ".join(lines[-2:]).split()) or "the service did not accept it"
    return without_secrets(said, address)[:300]


def without_secrets(text: str, address: str) -> str:
    """A text without any part of an address, except for the name of its host and its port."""
    rest = address.partition("://")[2]
    user, _, place = rest.rpartition("@") if "@" in rest.partition("?")[0] else ("", "", rest)
    host = re.split(r"[/?]", place, maxsplit=1)[0] if user else ""
    parts = {address, *re.split(r"[/:@?&=#,]+", f"{user}/{place.removeprefix(host)}")}
    parts |= {urllib.parse.unquote(part) for part in parts}
    for part in sorted(parts - {host, *host.split(":")}, key=len, reverse=True):
        if len(part) > 2:
            text = text.replace(part, "…")
    return text
