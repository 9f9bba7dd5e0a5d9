"""Pages with harmful links, and pages that forbid following or indexing."""

from sanderling.testing.faults.exchange import HTML, FaultExchange, anchors, document, fault, head
from sanderling.testing.faults.private import private_urls

MILLION = 1_000_000

BAD_SCHEMES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " java\nscript:alert(1)",
    "data:text/html,<a href='/page/from-data'>x</a>",
    "file:///etc/passwd",
    "mailto:someone@example.test",
    "tel:+123456",
    "ftp://127.0.0.1/file",
    "gopher://127.0.0.1:70/1",
    "blob:http://127.0.0.1/0b5e",
    "about:blank",
    "view-source:http://127.0.0.1/",
    "dict://127.0.0.1:2628/",
    "ws://127.0.0.1/socket",
    "unknown-scheme:thing",
    "http:",
    "http://",
    "http:///",
    "http://[",
    "http://[::1:bad]/",
    "http://exa mple.test/",
    "http://example.test:99999/",
    "http://%zz/",
    "//",
    "http://user:secret@",
    "\\\\server\\share",
    "%",
    "?",
    "#",
    "",
]

TRAVERSALS = [
    "/../../etc/passwd",
    "/page/%2e%2e/%2e%2e/etc/passwd",
    "/page/..%2f..%2fetc%2fpasswd",
    "/page/..%5c..%5cwindows",
    "/page/%00",
    "/page/name%00.html",
    "/page/" + "x" * 3000,
    "/page/" + "/".join(["deep"] * 500),
    "/page/CON",
    "/page/aux.html",
    "/page/NUL",
    "/page/COM1",
    "/page/name.",
    "/page/name ",
    "/page/-rf",
    "/page/~root",
    "/page/a:b",
    "/page/a|b<c>d*e",
    "/page/%0d%0aSet-Cookie:x=y",
    "/page/%1b[2J",
    "/page/%E2%80%AEcod.exe",
]


@fault("links-to-private")
async def links_to_private(exchange: FaultExchange) -> None:
    """A page with links, frames and images at private addresses in every way to write them."""
    urls = list(private_urls(exchange.surroundings.other_origin).values())
    extra = f'<iframe src="{urls[0]}"></iframe><img src="{urls[0]}" alt="">'
    await exchange.page("Links to private addresses", anchors(urls) + extra)


@fault("links-bad-schemes")
async def links_bad_schemes(exchange: FaultExchange) -> None:
    """A page with links that are not http, or not even URLs, and a good one to /page/ok at the
    end."""
    await exchange.page("Links with bad schemes", anchors([*BAD_SCHEMES, "/page/ok"]))


@fault("traversal-links")
async def traversal_links(exchange: FaultExchange) -> None:
    """A page whose links make dangerous file names."""
    await exchange.page("Dangerous names", anchors(TRAVERSALS))


@fault("million-links")
async def million_links(exchange: FaultExchange) -> None:
    """A page with a million links, about 35 MB, sent without length."""
    await exchange.send(head(200, f"Content-Type: {HTML}", "Connection: close"))
    await exchange.send(b"<!DOCTYPE html><title>A million links</title>\n")
    for start in range(0, MILLION, 1000):
        lines = (b'<a href="/page/n%d">%d</a>\n' % (n, n) for n in range(start, start + 1000))
        await exchange.send(b"".join(lines))


@fault("meta-refresh")
async def meta_refresh(exchange: FaultExchange) -> None:
    """A page that sends browsers on to /page/refreshed by a meta element."""
    refresh = '<meta http-equiv="refresh" content="0; url=/page/refreshed">'
    await exchange.reply(f"<!DOCTYPE html><html><head>{refresh}<title>Away</title></head><body></body></html>")


@fault("meta-refresh-private")
async def meta_refresh_private(exchange: FaultExchange) -> None:
    """The same, to a loopback address on the server's other port."""
    target = exchange.surroundings.other_origin + "/private/meta-refresh"
    await exchange.reply(f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={target}"><title>Away</title>')


@fault("base-href")
async def base_href(exchange: FaultExchange) -> None:
    """A page whose relative link `below` means /page/below, because of its base element."""
    await exchange.reply('<!DOCTYPE html><head><base href="/page/"><title>Base</title></head><a href="below">below</a>')


@fault("nofollow")
async def nofollow(exchange: FaultExchange) -> None:
    """A page with one link to follow (/page/followed) and one marked nofollow
    (/page/not-followed)."""
    await exchange.page(
        "One link with nofollow",
        '<a href="/page/followed">yes</a> <a rel="nofollow" href="/page/not-followed">no</a>',
    )


@fault("meta-nofollow")
async def meta_nofollow(exchange: FaultExchange) -> None:
    """A page whose meta element forbids following its link to /page/not-followed."""
    await exchange.reply(
        '<!DOCTYPE html><head><meta name="robots" content="nofollow"><title>Follow nothing</title></head>'
        '<a href="/page/not-followed">no</a>'
    )


@fault("noindex")
async def noindex(exchange: FaultExchange) -> None:
    """A page whose meta element forbids keeping it; its link to /page/followed may be followed."""
    await exchange.reply(
        '<!DOCTYPE html><head><meta name="robots" content="noindex"><title>Keep out</title></head>'
        '<a href="/page/followed">yes</a>'
    )


@fault("x-robots-noindex")
async def x_robots_noindex(exchange: FaultExchange) -> None:
    """The same by the header X-Robots-Tag."""
    body = document("Keep out", '<a href="/page/followed">yes</a>')
    await exchange.reply(body, headers=("X-Robots-Tag: noindex",))


@fault("x-robots-nofollow")
async def x_robots_nofollow(exchange: FaultExchange) -> None:
    """A page whose header X-Robots-Tag forbids following its link to /page/not-followed."""
    body = document("Follow nothing", '<a href="/page/not-followed">no</a>')
    await exchange.reply(body, headers=("X-Robots-Tag: nofollow",))


@fault("side-effects")
async def side_effects(exchange: FaultExchange) -> None:
    """A page with links and forms that do damage: /page/logout, /page/delete?id=1 and a form that
    posts."""
    form = '<form method="post" action="/page/posted"><input name="text"><button>Post</button></form>'
    await exchange.page("Handle with care", anchors(["/page/logout", "/page/delete?id=1"]) + form)
