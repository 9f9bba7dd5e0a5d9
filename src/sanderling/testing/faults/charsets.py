"""Pages with a wrong encoding, and characters that attack terminals and readers."""

from sanderling.testing.faults.exchange import FaultExchange, fault

TEXT = "Café crème, naïve façade"


@fault("latin1-labelled-utf8")
async def latin1_labelled_utf8(exchange: FaultExchange) -> None:
    """Latin-1 bytes, while header and meta element say UTF-8."""
    await exchange.reply(_page(TEXT, "utf-8").encode("latin-1"), "text/html; charset=utf-8")


@fault("utf8-labelled-latin1")
async def utf8_labelled_latin1(exchange: FaultExchange) -> None:
    """UTF-8 bytes, while the header says ISO-8859-1."""
    await exchange.reply(_page(TEXT, "utf-8").encode(), "text/html; charset=iso-8859-1")


@fault("bom-conflict")
async def bom_conflict(exchange: FaultExchange) -> None:
    """A UTF-8 byte order mark and UTF-8 text, while header and meta element say ISO-8859-1."""
    page = b"\xef\xbb\xbf" + _page(TEXT, "iso-8859-1").encode()
    await exchange.reply(page, "text/html; charset=iso-8859-1")


@fault("invalid-utf8")
async def invalid_utf8(exchange: FaultExchange) -> None:
    """UTF-8 with stray, overlong, surrogate and cut sequences."""
    page = _page("BAD", "utf-8").encode()
    await exchange.reply(page.replace(b"BAD", b"ok \x80 \xc0\xaf \xed\xa0\x80 \xf8\x88 \xe2\x82"))


@fault("utf16")
async def utf16(exchange: FaultExchange) -> None:
    """UTF-16 with a byte order mark and nothing in the header."""
    await exchange.reply(_page(TEXT, "utf-16").encode("utf-16"), "text/html")


@fault("unknown-charset")
async def unknown_charset(exchange: FaultExchange) -> None:
    """UTF-8 text in an encoding that header and meta element call `klingon`."""
    await exchange.reply(_page(TEXT, "klingon").encode(), "text/html; charset=klingon")


@fault("control-characters")
async def control_characters(exchange: FaultExchange) -> None:
    """Escape sequences for terminals in title, text and a link."""
    await exchange.reply(
        _page("\x1b]0;owned\x07\x1b[31mred\x1b[2J\x08\x7f\x9b1m title", "utf-8", "/page/%1b[31mred\x1b[0m")
    )


@fault("bidi")
async def bidi(exchange: FaultExchange) -> None:
    """Characters that turn the direction of text around, in title, text and a link."""
    await exchange.reply(
        _page("invoice\u202efdp.exe \u2066hidden\u2069 \u200b\u200fname", "utf-8", "/page/\u202egnp.exe")
    )


def _page(text: str, charset: str, link: str = "/page/ok") -> str:
    return (
        f'<!DOCTYPE html><html><head><meta charset="{charset}"><title>{text}</title></head>'
        f'<body><p>{text}</p><a href="{link}">{text}</a></body></html>'
    )
