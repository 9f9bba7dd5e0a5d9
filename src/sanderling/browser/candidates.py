"""Which pages may need a browser, judged by the document alone: it has scripts and says next to
nothing.

The judgement must cost next to nothing, too. It reads a document only until it has enough words and
links.
"""

import re

from sanderling.documents import native

# With scripts, a page with fewer words is a candidate, and without a link one with fewer than so
# many.
FEW_WORDS, FEW_WORDS_WITHOUT_LINKS = 30, 200
# Languages without spaces between words: this many bytes beyond ASCII count as a word.
_BYTES_A_WORD = 6


def _any_case(word: bytes) -> bytes:
    return b"".join(b"[%c%c]" % (letter, letter - 32) for letter in word)


_NOT_SHOWN = b"|".join(map(_any_case, (b"script", b"style", b"noscript", b"template", b"svg", b"head")))
# Text, and links. Then what is passed over: tags whose first letter says that they are neither a
# link nor hidden, several at once; what is not shown; comments and other tags. Letters are spelled
# out, because ignoring the case takes nearly twice as long.
_PARTS = re.compile(
    rb"([^<]+)|<([aA]\s[^>]*)>|(?:</?[b-gi-mo-ru-zB-GI-MO-RU-Z][^>]*>)+"
    rb"|<(?:(" + _NOT_SHOWN + rb")\b.*?(?:</(?i:\3)\s*>|\Z)|!--.*?(?:-->|\Z)|/?[A-Za-z!][^>]*>)|<",
    re.DOTALL,
)
_TEXT, _LINK = 1, 2  # the groups
_TARGET = re.compile(rb"[hH][rR][eE][fF]\s*=")


def may_need_a_browser(html: bytes) -> bool:
    """Whether scripts may make this page: it has some, and few words, or no links and not many
    words."""
    if native.extension is not None:
        return bool(native.extension.may_need_browser(html))
    if b"<script" not in html and b"<SCRIPT" not in html:
        return False
    words, enough = 0, FEW_WORDS_WITHOUT_LINKS
    for part in _PARTS.finditer(html, max(0, html.find(b"<body"))):
        kind = part.lastindex
        if kind == _TEXT:
            text = part[_TEXT]
            words += len(text.split()) if text.isascii() else _words_in(text)
        elif kind == _LINK and enough > FEW_WORDS and _TARGET.search(part[_LINK]):
            enough = FEW_WORDS
        else:
            continue
        if words >= enough:
            return False
    return True


def _words_in(text: bytes) -> int:
    beyond = sum(byte > 127 for byte in text)
    return max(len(text.split()), beyond // _BYTES_A_WORD)
