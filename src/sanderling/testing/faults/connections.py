"""Faults of the connection and of HTTP itself."""

import asyncio

from sanderling.testing.faults.exchange import HTML, FaultExchange, anchors, document, fault, head

BODY = document("A page", "<p>With a body of which not all may arrive.</p>").encode()


@fault("ok")
async def ok(exchange: FaultExchange) -> None:
    """A page without any fault."""
    await exchange.page("All is well", "<p>Nothing is wrong with this page.</p>")


@fault("page/NAME", "page/ok")
async def page(exchange: FaultExchange) -> None:
    """A faultless page of that name, with links to two more."""
    name = "-".join(exchange.arguments) or "ok"
    targets = ["/", "/page/ok", "/page/other"]
    await exchange.page(f"Page {name}", f"<p>The page called {name}.</p>" + anchors(targets))


@fault("reset")
async def reset(exchange: FaultExchange) -> None:
    """Resets the connection (RST) instead of answering."""
    exchange.reset()


@fault("reset-midway")
async def reset_midway(exchange: FaultExchange) -> None:
    """Resets the connection in the middle of the body."""
    await exchange.send(head(200, f"Content-Type: {HTML}", f"Content-Length: {len(BODY)}") + BODY[:40])
    # Waits until the first bytes are sent, because a reset drops everything in the buffer.
    await asyncio.sleep(0.05)
    exchange.reset()


@fault("drop")
async def drop(exchange: FaultExchange) -> None:
    """Closes the connection without a single byte."""


@fault("hang")
async def hang(exchange: FaultExchange) -> None:
    """Never answers and never closes."""
    await exchange.until_closed()


@fault("slow-headers")
async def slow_headers(exchange: FaultExchange) -> None:
    """Sends its headers one byte per second, without end."""
    await _drip(exchange, b"HTTP/1.1 200 OK\r\n" + b"X-Patience: please wait\r\n" * 10_000)


@fault("slow-body")
async def slow_body(exchange: FaultExchange) -> None:
    """Sends its headers at once and its body of 100,000 bytes one byte per second."""
    await exchange.send(head(200, f"Content-Type: {HTML}", "Content-Length: 100000"))
    await _drip(exchange, BODY.ljust(100_000))


@fault("endless")
async def endless(exchange: FaultExchange) -> None:
    """Sends a body without length and without end, as fast as it is read."""
    await exchange.send(head(200, f"Content-Type: {HTML}", "Connection: close") + BODY)
    while True:
        await exchange.send(b"<p>And so it goes on.</p>\n" * 2000)


@fault("endless-chunks")
async def endless_chunks(exchange: FaultExchange) -> None:
    """Sends well-formed chunks without end."""
    await exchange.send(head(200, f"Content-Type: {HTML}", "Transfer-Encoding: chunked"))
    text = b"<p>And so it goes on.</p>\n" * 2000
    while True:
        await exchange.send(b"%x\r\n%s\r\n" % (len(text), text))


@fault("header-flood")
async def header_flood(exchange: FaultExchange) -> None:
    """Sends header lines without end."""
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while True:
        lines = (b"X-Flood-%d: %s\r\n" % (number + n, b"x" * 100) for n in range(500))
        await exchange.send(b"".join(lines))
        number += 500


@fault("long-header")
async def long_header(exchange: FaultExchange) -> None:
    """Sends one header of 1 MB."""
    await exchange.reply(BODY, headers=("X-Long: " + "x" * 1_000_000,))


@fault("short")
async def short(exchange: FaultExchange) -> None:
    """Sends 10 bytes fewer than its Content-Length says, and closes."""
    await exchange.send(head(200, f"Content-Type: {HTML}", f"Content-Length: {len(BODY) + 10}") + BODY)


@fault("two-lengths")
async def two_lengths(exchange: FaultExchange) -> None:
    """Sends two Content-Length headers that contradict each other."""
    lengths = (f"Content-Length: {len(BODY)}", "Content-Length: 5")
    await exchange.send(head(200, f"Content-Type: {HTML}", *lengths) + BODY)


@fault("broken-chunk")
async def broken_chunk(exchange: FaultExchange) -> None:
    """Sends one good chunk and then one whose size is not a number."""
    start = head(200, f"Content-Type: {HTML}", "Transfer-Encoding: chunked")
    await exchange.send(start + b"%x\r\n%s\r\nzz;no\r\noh\r\n" % (len(BODY), BODY))


@fault("cut-chunk")
async def cut_chunk(exchange: FaultExchange) -> None:
    """Closes the connection before the last chunk."""
    start = head(200, f"Content-Type: {HTML}", "Transfer-Encoding: chunked")
    await exchange.send(start + b"%x\r\n%s\r\n" % (len(BODY), BODY))


@fault("not-http")
async def not_http(exchange: FaultExchange) -> None:
    """Answers in a language that is not HTTP."""
    await exchange.send(b"220 mail.example.test ESMTP ready\r\n")


async def _drip(exchange: FaultExchange, data: bytes) -> None:
    for place in range(len(data)):
        await exchange.send(data[place : place + 1])
        await asyncio.sleep(exchange.pace)
