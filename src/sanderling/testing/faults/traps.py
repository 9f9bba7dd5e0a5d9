"""Endless sites."""

from sanderling.testing.faults.exchange import FaultExchange, anchors, fault


@fault("trap-calendar/MONTH", "trap-calendar/0")
async def calendar(exchange: FaultExchange) -> None:
    """A calendar that links to the next month and the one before, for ever."""
    month = exchange.number(0)
    targets = [f"/trap-calendar/{month + 1}", f"/trap-calendar/{max(0, month - 1)}"]
    await exchange.page(f"Month {month}", "<p>No events.</p>" + anchors(targets))


@fault("trap-path/PLACE", "trap-path/")
async def growing_path(exchange: FaultExchange) -> None:
    """A page whose relative link makes its path one step longer each time."""
    await exchange.page("Deeper", "<p>Go on.</p>" + anchors(["deeper/"]))


@fault("trap-query")
async def growing_query(exchange: FaultExchange) -> None:
    """A page whose links add one more parameter to its query each time."""
    start = f"/trap-query?{exchange.query}&" if exchange.query else "/trap-query?"
    await exchange.page("Filters", "<p>Choose.</p>" + anchors([start + "colour=red", start + "size=big"]))


@fault("trap-session")
async def session(exchange: FaultExchange) -> None:
    """The same page at a new session id in every link."""
    number = exchange.times_asked
    await exchange.page("Session", "<p>Welcome.</p>" + anchors([f"/trap-session?sid={number:032x}"]))
