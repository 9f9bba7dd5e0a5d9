"""Bounds the elements that a parser makes of a page, before it makes them.

Elements such as `<b>` that are still open when a paragraph ends are opened again in the next one,
as the HTML standard says. So 600 of them turn each `<p>x` into 600 elements: 125 KB of such HTML
became 2 GiB. The number of elements that are opened again is at most the number of tags times the
number of formatting elements that may be open. Bounds of it are tried, the cheapest first. Nearly
all pages are let through by the first ones, which only count.
"""

import re
from collections import Counter
from typing import Final

# Besides these, a page may have one element a byte: real pages have one in 20 bytes. An element
# takes about 120 bytes, so that this is 60 MB.
FREE: Final = 500_000
# The standard keeps at most three open elements of the same tag and attributes.
_ALIKE: Final = 3
# Of `a` at most one is open at a time.
_NAMES: Final = rb"b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_ONE_LETTER, _BEGINNINGS = b"bisu", (b"bi", b"co", b"em", b"fo", b"no", b"sm", b"st", b"tt")
_SPACE: Final = rb"[ \t\n\f\r]"
# An element with nothing in it but text. Whatever stands around it, its end tag closes it.
_WHOLE: Final = re.compile(
    rb"<(a|span|%b)(?:%b+[a-z0-9_:-]+(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'`=<>]++))?)*+%b*+/?>[^<]*+</\1%b*+>"
    % (_NAMES, _SPACE, _SPACE, _SPACE)
)
# Stands for such an element in what is left. If the page itself has some, it has more elements.
_CLOSED: Final = b"\1"
_LAYERS: Final = 3
# A formatting tag; or a place behind which an end tag may not close what was opened before, or may
# be no tag at all: such an element, a comment, a tag in a tag, a quoted attribute with tags in it.
_TORN: Final = rb"=\s*(?:\"[^\"<>]*(?=[<>])|'[^'<>]*(?=[<>]))"
_EVENT: Final = re.compile(
    rb"<(/?)(%b)(?=[ \t\n\f\r/>])([^<>]*+)(?:(>)|(?=<))"
    rb"|<[!?]|<(?:applet|caption|desc|foreignobject|iframe|marquee|math|noembed|noframes|noscript|object|plaintext|script|"
    rb"select|style|svg|table|td|template|textarea|th|title|xmp|m[inos]|mtext|annotation-xml)(?=[\s/>])"
    rb"|<[^<>]*+(?=<)|%b" % (_NAMES, _TORN)
)
_IS_TORN: Final = re.compile(_TORN)
_BYTE_ORDERS: Final = (b"\xff\xfe", b"\xfe\xff")


class TooManyElements(ValueError):
    """The page is not parsed."""

    def __init__(self) -> None:
        super().__init__("its markup stands for too many elements")


def check_elements(body: bytes | str) -> None:
    """Raises TooManyElements for a page that may be a bomb."""
    markup = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    if markup.startswith(_BYTE_ORDERS):
        markup = markup.decode("utf-16", "replace").encode("utf-8", "surrogatepass")
    tags, most = markup.count(b"<"), FREE + len(markup)
    if tags * tags <= 4 * most:  # half of them open, half of them open again
        return
    # In an unknown charset with two bytes a character, what looks like an end tag may be none.
    certain = b"\0" not in markup and b"\x1b" not in markup
    markup = markup.replace(b"\0", b"").lower()
    opening = _opening(markup)
    if len(opening) * (tags - len(opening)) <= most:
        return
    distinct = {markup[at : markup.find(b">", at)] for at in opening}
    if tags * (_ALIKE * len(distinct) + 1) <= most:
        return
    if not certain or _reopened(_without_whole(markup), most) > most:
        raise TooManyElements


def _opening(markup: bytes) -> list[int]:
    """Where formatting elements begin, and some others that look alike."""
    import numpy as np  # late: most pages are too small to need it

    letters = np.frombuffer(markup + b"  ", np.uint8)
    at = np.flatnonzero(letters == ord("<"))
    first, second = letters[at + 1], letters[at + 2]
    formatting = np.isin(first, [*_ONE_LETTER]) & ~((second >= ord("a")) & (second <= ord("z")))
    for one, other in _BEGINNINGS:
        formatting |= (first == one) & (second == other)
    found: list[int] = at[formatting].tolist()
    return found


def _without_whole(markup: bytes) -> bytes:
    """A page without elements that hold only text, layer by layer."""
    for _ in range(_LAYERS):
        markup, count = _WHOLE.subn(_CLOSED, markup)
        if not count:
            break
    return markup


def _reopened(markup: bytes, most: int) -> int:
    """How many elements the tags of a page open again; more than `most` is not counted."""
    open_: list[tuple[bytes, bytes]] = []  # names, and attributes
    alike: Counter[tuple[bytes, bytes]] = Counter()
    floor = total = last = 0  # what is below the floor stays open
    for event in _EVENT.finditer(markup):
        if open_:
            total += len(open_) * _tags(markup, last, event.start())
            if total > most:
                break
        last = event.start()
        ending, name, attributes, whole = event.groups()
        if name is not None and not ending:
            tag = name, attributes if whole else b"%d" % last  # the rest of the attributes is not seen
            if alike[tag] < _ALIKE:
                alike[tag] += 1
                open_.append(tag)
        elif name is not None and whole:
            for at in range(len(open_) - 1, floor - 1, -1):
                if open_[at][0] == name:
                    alike[open_.pop(at)] -= 1
                    break
        if name is None or not whole or _IS_TORN.search(attributes + b">"):
            floor = len(open_)
    return total + len(open_) * _tags(markup, last, len(markup))


def _tags(markup: bytes, start: int, end: int) -> int:
    return markup.count(b"<", start, end) + markup.count(_CLOSED, start, end)
