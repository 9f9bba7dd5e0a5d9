"""The words of a text, as a topic sees them.

Only the first 4,000 characters count: they say what a page is about, and a page costs the same
however long it is. Scripts that are written without spaces have no words to split at, so every pair
of neighbouring characters is a word.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from sanderling.documents.visible import Span

LENGTH = 4000
# So much of the text of links counts beside it. A link with a longer text than a name has is a
# sentence, and counts as any other.
LINKED_LENGTH, LONGEST_NAME = 1000, 80
_WORD = re.compile(r"[^\W\d_]\w+")
# Thai, Lao, Burmese, Khmer, and the scripts of Chinese and Japanese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+"
)
_BREAKS = re.compile(r"[_\W\d]+|(?<=[a-z])(?=[A-Z])")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# Words that say nothing about a topic, in English, German, French, Spanish, Portuguese, Italian and
# Dutch. They count a tenth.
_LISTED = """
the of and to in is that for it was on with as by at from this are be not have or which but their has they one when can
more will been other were all there out about into only some its new over after may would where each them most such then
these between also first two how through many during under because an we you he she his her our your my me us if so no up
do does did than any what who had could should like just use used using see get make made page pages home site website
contact search menu login privacy policy cookies copyright rights reserved click here read next previous back top
der die das und ist nicht ein eine einer eines einem einen mit von zu auf den dem des für im in als auch sich an es wird
werden sind war bei oder aus nach durch über um wie so dass wir sie er ich seite startseite suche kontakt impressum
le la les un une des du de et est dans que qui pour pas sur par avec au aux ce cette ces il elle ils elles sont plus ne se
son sa ses ou mais comme nous vous je accueil recherche
el los las una uno y en del al es se con por para su como más pero sus le ya o este sí porque esta son entre
os as um uma em do da dos das no na nos nas não com mais mas foi ao ele ela
il lo gli di che non si con per sono della delle nel alla anche ha
het een van op te dat die voor met zijn aan er niet ook bij
"""
COMMON = frozenset(_LISTED.split())


# ASCII in lower case, with spaces for what is no part of a word. This takes a fraction of what a
# pattern does.
_SPACED = bytes(
    ord(chr(n).lower()) if n < 128 and (chr(n).isalnum() or n == ord("_")) else ord(" ") for n in range(256)
)
# The same for URLs, whose words are also divided by digits and underscores.
_SPACED_PATH = bytes(each if chr(each).isalpha() else ord(" ") for each in _SPACED)
# Quotation marks, dashes, arrows and the like: often the only characters of a text that are not
# ASCII.
_TYPOGRAPHY = re.compile(
    "[\xa0-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u2000-\u206f\u20a0-\u20c0\u2190-\u23ff\u2500-\u27bf]+"
)
_NO_BEGINNING = "0123456789_"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")


def counted(text: str) -> Counter[str]:
    """How often each word stands in the beginning of a text."""
    text = text[:LENGTH]
    if not text.isascii():
        text = _TYPOGRAPHY.sub(" ", text.lower())
    if text.isascii():
        found = Counter(text.encode().translate(_SPACED).decode().split())
        for word in _LETTERS & found.keys():
            del found[word]
        for word in [word for word in found if word < "a"]:
            times, begun = found.pop(word), word.lstrip(_NO_BEGINNING)
            if len(begun) > 1:
                found[begun] += times
        return found
    pairs = [run[n : n + 2] for run in _UNSPACED.findall(text) for n in range(max(1, len(run) - 1))]
    if pairs:
        text = _UNSPACED.sub(" ", text)
    return Counter(_WORD.findall(text) + pairs)


def apart(text: str, links: "Sequence[Span]") -> tuple[str, str]:
    """The beginnings of the text outside links and of the text of links."""
    outside, linked = list[str](), list[str]()
    at, left, most = 0, LENGTH, LINKED_LENGTH
    for start, end, _ in links:
        if end - start > LONGEST_NAME:
            continue
        if start > at:
            outside.append(text[at:start])
            left -= start - at
            if left <= 0:
                break
        if end > at and most > 0:
            linked.append(text[max(at, start) : end])
            most -= end - start
        at = max(at, end)
    else:
        outside.append(text[at : at + left])
    return " ".join(outside), " ".join(linked)[:LINKED_LENGTH]


def listed(text: str) -> list[str]:
    """The words of a short text."""
    if not text.isascii():
        return [*counted(text).elements()]
    found = text.encode().translate(_SPACED).decode().split()
    return [word for each in found if len(word := each if each >= "a" else each.lstrip(_NO_BEGINNING)) > 1]


def tallied(words: Sequence[str]) -> dict[str, int]:
    """How often each of a few words was said; a Counter takes longer to make."""
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def of_url(url: str) -> list[str]:
    """The words of a URL's path and query; its host is that of the page it stands on, mostly."""
    path = url.partition("://")[2].partition("/")[2][:LENGTH]
    if "%" in path:
        path = unquote(path, errors="ignore")
    if not path.isascii():
        return [*counted(_BREAKS.sub(" ", path)).elements()]
    if not path.islower():
        path = _INNER_CAPITAL.sub(" ", path)
    return [word for word in path.encode().translate(_SPACED_PATH).decode().split() if len(word) > 1]
