"""What in markup is no markup: comments, processing instructions and CDATA sections."""

import re
from collections.abc import Iterable, Iterator

_CDATA = b"<![CDATA["
_OPENING = re.compile(rb"<!--|<!\[CDATA\[|<\?")
_CLOSING = {b"<!--": b"-->", _CDATA: b"]]>", b"<?": b"?>"}
# How much of the end of a piece may be the beginning of an opening or a closing.
_OPENING_LEFT, _CLOSING_LEFT = 8, 2


def plain_markup(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a document without comments and instructions, and with CDATA sections as the
    text they stand for.

    What is not closed lasts to the end. The time is linear, and no more than a piece is held.
    """
    rest, inside = b"", b""  # what is inside is named by its opening
    for piece in pieces:
        window, at, kept = rest + piece, 0, []
        while True:
            if inside:
                end = window.find(_CLOSING[inside], at)
                stop = end if end >= 0 else max(at, len(window) - _CLOSING_LEFT)
                if inside == _CDATA:
                    kept.append(_escaped(window[at:stop]))
                if end < 0:
                    break
                at, inside = end + len(_CLOSING[inside]), b""
            else:
                opening = _OPENING.search(window, at)
                stop = opening.start() if opening else max(at, len(window) - _OPENING_LEFT)
                kept.append(window[at:stop])
                if opening is None:
                    break
                at, inside = opening.end(), opening[0]
        rest = window[stop:]
        yield b"".join(kept)
    yield rest if not inside else _escaped(rest) if inside == _CDATA else b""


def _escaped(text: bytes) -> bytes:
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
