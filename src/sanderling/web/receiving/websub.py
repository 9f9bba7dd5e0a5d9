"""`/websub/TOKEN`: hubs tell that a feed changed (WebSub, a W3C recommendation).

A subscription is asked for by this server alone: a hub that verifies one nobody asked for gets 404.
What it sends is believed only with the right signature, and only about pages of the feed's own
host.
"""

import hmac
import threading
import time
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from sanderling import clock
from sanderling.documents import sitemaps
from sanderling.errors import SanderlingError
from sanderling.header_values import whole_number
from sanderling.model import NamedPage, Told
from sanderling.network.one_request import request as ask
from sanderling.network.reach import PUBLIC, NetworkReach
from sanderling.repository.folder import Folder
from sanderling.repository.named_addresses import NamedAddresses
from sanderling.settings import Settings, load
from sanderling.urls import identity, origin
from sanderling.web.receiving import subscriptions
from sanderling.web.receiving.crawls import pass_on
from sanderling.web.receiving.rates import Buckets
from sanderling.web.receiving.subscriptions import Subscription
from sanderling.web.shelf import Shelf

router = APIRouter(include_in_schema=False)

LEASE = 10 * 24 * 3600
# A hub that does not answer, or that denied, is asked again after this time.
AGAIN_AFTER = 24 * 3600.0
_ALGORITHMS = ("sha256", "sha512", "sha384", "sha1")


class Subscriber:
    """The subscriptions of all crawls of a server. It is thread-safe."""

    def __init__(self, shelf: Shelf, agent: str, public: str) -> None:
        """`public` is the address at which hubs reach this server; without one nothing is
        subscribed."""
        self._shelf, self._agent = shelf, agent
        self.public = public.rstrip("/")
        self._guard = threading.Lock()
        self.messages = Buckets(60, 0.5)

    def find(self, token: str) -> tuple[Folder, Subscription] | None:
        for folder in self._shelf.folders().values():
            for each in subscriptions.load(folder.path):
                if hmac.compare_digest(each.token.encode(), token.encode()):
                    return folder, each
        return None

    def keep(self, folder: Folder, changed: Subscription) -> None:
        with self._guard:
            known = subscriptions.load(folder.path)
            if any(each.token == changed.token for each in known):  # not if it was replaced meanwhile
                kept = [each for each in known if each.token != changed.token]
                subscriptions.save(folder.path, [*kept, changed])

    def begin(self, folder: Folder, new: Subscription) -> None:
        """Keeps a subscription, instead of another one of the same feed."""
        with self._guard:
            kept = [each for each in subscriptions.load(folder.path) if each.topic != new.topic]
            subscriptions.save(folder.path, [*kept, new])

    def subscribe_all(self) -> None:
        """Subscribes to the feeds of all crawls that have a hub, and renews what ends soon."""
        for folder in self._shelf.folders().values() if self.public else ():
            try:
                with self._shelf.opened(folder) as store:
                    named = subscriptions.feeds(folder, store)
                    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
                    addresses = NamedAddresses(store, settings)
            except SanderlingError:
                continue
            known = {each.topic: each for each in subscriptions.load(folder.path)}
            for topic, hub in dict(named).items():
                subscription = known.get(topic)
                if subscription is None or subscription.hub != hub:
                    # Another hub gets another secret: the old one must not speak for the new one.
                    subscription = Subscription(topic=topic, hub=hub)
                if self._is_due(subscription, clock.now()):
                    self._subscribe(folder, subscription, reach_of_hub(addresses, topic, hub))

    def _is_due(self, each: Subscription, now: float) -> bool:
        if each.state == "active":
            return each.until - now < LEASE / 4
        return now - each.asked_at > AGAIN_AFTER

    def _subscribe(self, folder: Folder, subscription: Subscription, reach: NetworkReach) -> None:
        subscription.asked_at = clock.now()
        self.begin(folder, subscription)  # before the hub can answer
        fields = {
            "hub.mode": "subscribe", "hub.topic": subscription.topic, "hub.secret": subscription.secret,
            "hub.callback": f"{self.public}/websub/{subscription.token}", "hub.lease_seconds": str(LEASE),
        }  # fmt: skip
        ask(
            subscription.hub, agent=self._agent, body=urlencode(fields).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            reach=reach,
        )  # fmt: skip


def reach_of_hub(addresses: NamedAddresses, topic: str, hub: str) -> NetworkReach:
    """Where a request to a hub may lead. The feed names its hub, so only one at the feed's own
    origin may be at a private address, if that may."""
    reach = addresses.reach(hub)
    return reach if reach.anywhere or origin(hub) == origin(topic) else PUBLIC


@router.get("/websub/{token}", response_model=None)
def verify(request: Request, token: str) -> Response:
    """A hub asks whether this server wanted a subscription."""
    subscriber: Subscriber = request.app.state.websub
    asked = request.query_params
    found = subscriber.find(token)
    if found is None or asked.get("hub.topic") != found[1].topic:
        raise HTTPException(404, "nobody subscribed to this here")
    folder, subscription = found
    if asked.get("hub.mode") == "denied":
        subscription.state = "denied"
        subscriber.keep(folder, subscription)
        return Response(status_code=200)
    challenge = asked.get("hub.challenge", "")
    lease = whole_number(asked.get("hub.lease_seconds", ""))
    if asked.get("hub.mode") != "subscribe" or not challenge or time.time() - subscription.asked_at > AGAIN_AFTER:
        raise HTTPException(404, "nobody subscribed to this here")
    subscription.state = "active"
    subscription.until = clock.now() + (LEASE if lease is None else min(lease, LEASE))
    subscriber.keep(folder, subscription)
    return PlainTextResponse(challenge[:1000])


@router.post("/websub/{token}", response_model=None)
async def receive(request: Request, token: str) -> Response:
    """A hub sends the new content of a feed."""
    from anyio.to_thread import run_sync

    body = await request.body()
    signature = request.headers.get("x-hub-signature", "")
    return await run_sync(_receive, request.app.state.websub, token, body, signature)


def _receive(subscriber: Subscriber, token: str, body: bytes, signature: str) -> Response:
    found = subscriber.find(token)
    if found is None or found[1].state != "active":
        raise HTTPException(404, "nobody subscribed to this here")
    folder, subscription = found
    if wait := subscriber.messages.take(token):
        raise HTTPException(429, "too many messages", {"Retry-After": str(int(wait) + 1)})
    if not is_signed(body, signature, subscription.secret):
        return Response(status_code=202)  # as the protocol wants it: a forger learns nothing
    pages = _named(subscription, body)
    pass_on(folder, Told("websub", origin(subscription.topic), pages))
    subscriber.keep(folder, subscription)
    return Response(status_code=200)


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Whether a body has the right signature, such as `sha256=...`."""
    method, _, given = signature.partition("=")
    if method.lower() not in _ALGORITHMS:
        return False
    return hmac.compare_digest(hmac.new(secret.encode(), body, method.lower()).hexdigest(), given.strip().lower())


def _named(subscription: Subscription, body: bytes) -> list[NamedPage]:
    """The feed itself, and its entries that are newer than those of the last message."""
    now = clock.now()
    topic, home = subscription.topic, origin(subscription.topic)
    pages = {topic: NamedPage(identity(topic), topic, "changed", now)}
    newest = subscription.newest
    for url, modified in sitemaps.dates(body, at=topic).items():
        if origin(url) == home and subscription.newest < modified <= now:
            pages[url] = NamedPage(identity(url), url, "changed", modified)
            newest = max(newest, modified)
    subscription.newest = newest
    return list(pages.values())
