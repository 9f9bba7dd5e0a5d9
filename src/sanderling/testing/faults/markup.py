"""HTML and XML that is meant to break parsers."""

from sanderling.testing.faults.exchange import HTML, FaultExchange, fault, head

DEPTH = 100_000
LINE = 50 * 1024 * 1024


@fault("deep-html")
async def deep_html(exchange: FaultExchange) -> None:
    """100,000 elements, each inside the one before, with a link to /page/ok innermost."""
    body = "<div>" * DEPTH + '<a href="/page/ok">deep</a>' + "</div>" * DEPTH
    await exchange.page("Deep", body)


@fault("long-line")
async def long_line(exchange: FaultExchange) -> None:
    """50 MiB of HTML in a single line, with a link to /page/ok at the end."""
    end = b'<a href="/page/ok">the end</a>'
    await exchange.send(head(200, f"Content-Type: {HTML}", f"Content-Length: {LINE + len(end)}"))
    words = (b"All on one line and never a break. " * 2000)[: 64 * 1024]
    for _ in range(LINE // len(words)):
        await exchange.send(words)
    await exchange.send(end)


@fault("long-attribute")
async def long_attribute(exchange: FaultExchange) -> None:
    """A link of 5 MB, and after it one to /page/ok."""
    await exchange.page("Long", f'<a href="/page/{"x" * 5_000_000}">long</a><a href="/page/ok">ok</a>')


@fault("nul-bytes")
async def nul_bytes(exchange: FaultExchange) -> None:
    """HTML with NUL bytes in text, tags, attributes and between all of them."""
    await exchange.reply(
        b"\0<!DOCTYPE html><html><head><title>Nul\0s</title></head>\0<body>"
        b'<p>one\0two</p><a\0 href="/page/a\0b">x</a><scr\0ipt>1</scr\0ipt><a href="/page/ok">ok</a></body></html>\0'
    )


@fault("unclosed")
async def unclosed(exchange: FaultExchange) -> None:
    """HTML that ends inside a comment inside an attribute inside a script."""
    await exchange.reply('<title>Unclosed</title><a href="/page/ok">ok</a><script>"<!-- <a href="/page/not')


@fault("empty")
async def empty(exchange: FaultExchange) -> None:
    """200 and not a byte of body."""
    await exchange.reply(b"")


@fault("xml-bomb")
async def xml_bomb(exchange: FaultExchange) -> None:
    """A sitemap whose entities expand to a billion words (billion laughs)."""
    entities = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    await _sitemap(exchange, f"<!DOCTYPE urlset [{entities}]>", "&l9;")


@fault("xml-external-entity")
async def xml_external_entity(exchange: FaultExchange) -> None:
    """A sitemap whose entities ask for /etc/passwd and for a private address."""
    other = exchange.surroundings.other_origin
    doctype = (
        f'<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY web SYSTEM "{other}/private/entity">]>'
    )
    await _sitemap(exchange, doctype, "&file;&web;")


@fault("xml-deep")
async def xml_deep(exchange: FaultExchange) -> None:
    """XML of 100,000 elements, each inside the one before."""
    await exchange.reply('<?xml version="1.0"?>' + "<a>" * DEPTH + "</a>" * DEPTH, kind="application/xml")


@fault("xml-broken")
async def xml_broken(exchange: FaultExchange) -> None:
    """A sitemap that breaks off after its first URL, /page/ok."""
    await exchange.reply(
        f"<?xml version='1.0'?><urlset><url><loc>{exchange.surroundings.origin}/page/ok</loc></url><url><lo",
        kind="application/xml",
    )


async def _sitemap(exchange: FaultExchange, doctype: str, tail: str) -> None:
    origin = exchange.surroundings.origin
    await exchange.reply(
        f'<?xml version="1.0"?>{doctype}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{origin}/page/ok</loc></url><url><loc>{origin}/page/{tail}</loc></url></urlset>",
        kind="application/xml",
    )
