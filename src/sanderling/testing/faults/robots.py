"""The ways a fault server answers for /robots.txt."""

from sanderling.testing.faults.exchange import FaultExchange

BEHAVIOURS = {
    "allow": "all is allowed",
    "disallow": "nothing is allowed",
    "missing": "404",
    "500": "a server error",
    "429": "too many requests",
    "timeout": "never answers",
    "reset": "resets the connection",
    "html": "200 and an HTML page instead of rules",
    "huge": "600 KiB of rules; what comes after 500 KiB forbids all",
    "redirect-loop": "redirects to itself",
    "redirect": "redirects five times to rules that forbid /page/",
}


async def answer(exchange: FaultExchange, behaviour: str) -> None:
    """As named above; anything else is the text of the file."""
    rules = behaviour
    match behaviour:
        case "allow":
            rules = "User-agent: *\nDisallow:\n"
        case "disallow":
            rules = "User-agent: *\nDisallow: /\n"
        case "missing":
            await exchange.reply("Not Found\n", "text/plain", 404)
            return
        case "500" | "429":
            await exchange.reply("Sorry\n", "text/plain", int(behaviour))
            return
        case "timeout":
            await exchange.until_closed()
            return
        case "reset":
            exchange.reset()
            return
        case "html":
            await exchange.page("Welcome", "<p>User-agent: *<br>Disallow: /</p>")
            return
        case "huge":
            line = "Disallow: /nothing-of-interest\n"
            rules = "User-agent: *\n" + line * (600 * 1024 // len(line)) + "Disallow: /\n"
        case "redirect-loop":
            await exchange.redirect("/robots.txt")
            return
        case "redirect":
            hop = int(exchange.query or 0)
            if hop < 5:
                await exchange.redirect(f"/robots.txt?{hop + 1}")
                return
            rules = "User-agent: *\nDisallow: /page/\n"
    await exchange.reply(rules, "text/plain; charset=utf-8")
