"""Redirects, most of which should not be followed."""

from sanderling.testing.faults.exchange import FaultExchange, fault
from sanderling.testing.faults.private import private_urls


@fault("redirect/N", "redirect/3")
async def redirect(exchange: FaultExchange) -> None:
    """Leads through N redirects to /page/ok."""
    left = exchange.number(1)
    await exchange.redirect(f"/redirect/{left - 1}" if left > 1 else "/page/ok")


@fault("redirect-loop")
async def redirect_loop(exchange: FaultExchange) -> None:
    """Two URLs that redirect to each other."""
    await exchange.redirect("/redirect-loop" if exchange.arguments else "/redirect-loop/back")


@fault("redirect-self")
async def redirect_self(exchange: FaultExchange) -> None:
    """Redirects to itself."""
    await exchange.redirect("/redirect-self")


@fault("redirect-endless/N", "redirect-endless")
async def redirect_endless(exchange: FaultExchange) -> None:
    """Always redirects to a new URL."""
    await exchange.redirect(f"/redirect-endless/{exchange.number(0) + 1}")


@fault("redirect-to-file")
async def redirect_to_file(exchange: FaultExchange) -> None:
    """Redirects to file:///etc/passwd."""
    await exchange.redirect("file:///etc/passwd")


@fault("redirect-to-private/KIND", "redirect-to-private/loopback")
async def redirect_to_private(exchange: FaultExchange) -> None:
    """Redirects to a private address, written as KIND: the kinds are the keys of
    `FaultServer.private`."""
    urls = private_urls(exchange.surroundings.other_origin)
    kind = exchange.arguments[0] if exchange.arguments else "loopback"
    if kind in urls:
        await exchange.redirect(urls[kind])
    else:
        await exchange.reply("No such kind.\n", "text/plain", 404)


@fault("redirect-bad")
async def redirect_bad(exchange: FaultExchange) -> None:
    """Redirects to something that is not a URL."""
    await exchange.redirect("http://[::1:99999/%%%\\..")


@fault("redirect-no-location")
async def redirect_no_location(exchange: FaultExchange) -> None:
    """Answers 302 without a Location."""
    await exchange.reply("Somewhere.\n", "text/plain", 302)


@fault("redirect-permanent/NNN", "redirect-permanent/308")
async def redirect_permanent(exchange: FaultExchange) -> None:
    """Redirects to /page/ok for good, with 301 or 308."""
    await exchange.redirect("/page/ok", 308 if exchange.number(301) == 308 else 301)


@fault("redirect-temporary/NNN", "redirect-temporary/307")
async def redirect_temporary(exchange: FaultExchange) -> None:
    """Redirects to /page/ok for now, with 302, 303 or 307."""
    status = exchange.number(302)
    await exchange.redirect("/page/ok", status if status in (303, 307) else 302)


@fault("redirect-cross-origin/NNN", "redirect-cross-origin")
async def redirect_cross_origin(exchange: FaultExchange) -> None:
    """Redirects to the server's other port, which keeps the headers it gets in `received`."""
    status = exchange.number(302)
    location = exchange.surroundings.other_origin + "/landing"
    await exchange.redirect(location, status if status in (301, 303, 307, 308) else 302)


@fault("redirect-fragment")
async def redirect_fragment(exchange: FaultExchange) -> None:
    """Redirects to /page/ok#part, relative and with a fragment."""
    await exchange.redirect("page/ok#part")
