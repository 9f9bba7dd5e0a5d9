"""Which pages may need a browser, judged by the document alone: it has scripts and says next to nothing.

The judgement must cost next to nothing, too. It reads a document only until it has enough words and links.
"""

import re

# With scripts, a page with fewer words is a candidate, and without a link one with fewer than so many.
FEW_WORDS, FEW_WORDS_WITHOUT_LINKS = 30, 200
# Languages without spaces between words: so many bytes beyond ASCII are a word.
_BYTES_A_WORD = 6
# What is not shown, tags, and text between them.
_PARTS = re.compile(
    rb"<(script|style|noscript|template|svg|head)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<(/?[A-Za-z!][^>]*)>|([^<]+)|<",
    re.DOTALL | re.IGNORECASE,
)
_LINK = re.compile(rb"a\s[^>]*href\s*=", re.IGNORECASE)


def may_need_a_browser(html: bytes) -> bool:
    """Whether scripts may make this page: it has some, and few words, or no links and not many words."""
    if b"<script" not in html and b"<SCRIPT" not in html:
        return False
    words = links = 0
    for part in _PARTS.finditer(html, max(0, html.find(b"<body"))):
        _, tag, text = part.groups()
        if text is not None:
            words += len(text.split()) if text.isascii() else _words_in(text)
        elif tag is not None and _LINK.match(tag):
            links += 1
        if words >= (FEW_WORDS if links else FEW_WORDS_WITHOUT_LINKS):
            return False
    return True


def _words_in(text: bytes) -> int:
    beyond = sum(byte > 127 for byte in text)
    return max(len(text.split()), beyond // _BYTES_A_WORD)
