"""Status codes, and servers that recover."""

from sanderling.testing.faults.exchange import FaultExchange, document, fault


@fault("status/NNN", "status/503")
async def status(exchange: FaultExchange) -> None:
    """Answers with the status NNN."""
    number = exchange.number(200)
    await exchange.reply(document(f"Status {number}", ""), status=min(max(number, 200), 999))


@fault("flaky/K", "flaky/2")
async def flaky(exchange: FaultExchange) -> None:
    """Answers 503 to the first K requests of this URL and 200 from then on."""
    broken = exchange.times_asked <= exchange.number(2)
    await exchange.reply(document("Flaky", "<p>It works.</p>"), status=503 if broken else 200)


@fault("flaky-reset/K", "flaky-reset/2")
async def flaky_reset(exchange: FaultExchange) -> None:
    """Resets the connection of the first K requests of this URL and answers 200 from then on."""
    if exchange.times_asked <= exchange.number(2):
        exchange.reset()
    else:
        await exchange.page("Flaky", "<p>It works.</p>")


@fault("retry-after/K/SECONDS", "retry-after/2/1")
async def retry_after(exchange: FaultExchange) -> None:
    """Answers 429 with Retry-After: SECONDS to the first K requests of this URL and 200 from then
    on."""
    if exchange.times_asked <= exchange.number(2):
        wait = exchange.number(1, place=1)
        await exchange.reply("Later.\n", "text/plain", 429, headers=(f"Retry-After: {wait}",))
    else:
        await exchange.page("Patience", "<p>Thank you for waiting.</p>")


@fault("retry-after-date")
async def retry_after_date(exchange: FaultExchange) -> None:
    """Always answers 503 with a Retry-After date centuries away."""
    date = "Retry-After: Fri, 31 Dec 2399 23:59:59 GMT"
    await exchange.reply("Later.\n", "text/plain", 503, headers=(date,))
