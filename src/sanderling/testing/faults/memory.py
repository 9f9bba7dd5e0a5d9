"""Pages that show what a client remembers: cookies, validators, its own headers."""

import json

from sanderling.testing.faults.exchange import FaultExchange, anchors, document, fault


@fault("echo")
async def echo(exchange: FaultExchange) -> None:
    """The method, path and headers of the request, as JSON."""
    seen = {"method": exchange.method, "path": exchange.path, "headers": dict(exchange.headers)}
    await exchange.reply(json.dumps(seen, indent=1), "application/json")


@fault("cookie-set")
async def cookie_set(exchange: FaultExchange) -> None:
    """Sets the cookie flavour=oatmeal and links to /cookie-echo."""
    body = document("A cookie", anchors(["/cookie-echo"]))
    await exchange.reply(body, headers=("Set-Cookie: flavour=oatmeal; Path=/",))


@fault("cookie-echo")
async def cookie_echo(exchange: FaultExchange) -> None:
    """A page with the Cookie header it was sent."""
    await exchange.reply(exchange.header("cookie"), "text/plain; charset=utf-8")


@fault("cookies-many")
async def cookies_many(exchange: FaultExchange) -> None:
    """Sets 2,000 cookies of 1 KB each."""
    headers = tuple(f"Set-Cookie: crumb{n}={'x' * 1000}; Path=/" for n in range(2000))
    await exchange.reply(document("Crumbs", ""), headers=headers)


@fault("cookie-foreign")
async def cookie_foreign(exchange: FaultExchange) -> None:
    """Sets cookies for domains that are not its own."""
    headers = ("Set-Cookie: a=b; Domain=com", "Set-Cookie: c=d; Domain=example.org; Path=/")
    await exchange.reply(document("Foreign", ""), headers=headers)


@fault("etag")
async def etag(exchange: FaultExchange) -> None:
    """A page that never changes, with an ETag. A request with that ETag is answered with 304."""
    same = '"unchanging"' in exchange.header("if-none-match")
    await exchange.reply(
        document("Tagged", "<p>Always the same.</p>"),
        status=304 if same else 200,
        headers=('ETag: "unchanging"',),
    )


@fault("last-modified")
async def last_modified(exchange: FaultExchange) -> None:
    """A page that never changes, with Last-Modified. A request with that date is answered with
    304."""
    date = "Mon, 01 Jan 2024 00:00:00 GMT"
    same = exchange.header("if-modified-since") == date
    await exchange.reply(
        document("Dated", "<p>Always the same.</p>"),
        status=304 if same else 200,
        headers=(f"Last-Modified: {date}",),
    )


@fault("always-304")
async def always_304(exchange: FaultExchange) -> None:
    """Answers 304 even to unconditional requests."""
    await exchange.reply(status=304)


@fault("etag-lies")
async def etag_lies(exchange: FaultExchange) -> None:
    """A page that never changes with an ETag that always does."""
    headers = (f'ETag: "{exchange.times_asked}"',)
    await exchange.reply(document("The same", "<p>Always the same.</p>"), headers=headers)


@fault("same")
async def same(exchange: FaultExchange) -> None:
    """A page that never changes and carries no validators."""
    await exchange.page("The same", "<p>Always the same.</p>")


@fault("counter")
async def counter(exchange: FaultExchange) -> None:
    """A page that changes at every fetch, because it shows the number of fetches."""
    await exchange.page("Counter", f"<p>You are visitor number {exchange.times_asked}.</p>")
