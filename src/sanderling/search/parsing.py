"""The query language: words, "phrases", field:word, relevance:>0.7, data.path:value, -word, word*,
word~, OR and parentheses.

Every text is a valid query. What is not closed ends at the end of the text. What is not understood
is read as words, and a note says so. OR joins the two parts beside it: `fast bird OR wave` finds
pages with fast, and with bird or wave.
"""

import re
from typing import NamedTuple

# A number from 0 to 1 instead of words, as in `relevance:>0.7`.
RELEVANCE = "relevance"
FIELDS = ("title", "headings", "text", "url", "host", "lang", RELEVANCE)
# A field that begins with this is the path of a value in the data of extractors.
DATA = "data."
_OTHER_NAMES = {"heading": "headings", "site": "host", "language": "lang"}

LONGEST = 4000
MOST_WORDS = 64
DEEPEST = 20
LONGEST_DISTANCE = 2

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<minus>-(?=[^\s-]))? (?: (?P<field>[A-Za-z]{1,20}|data(?:\.[\w-]{1,80}){1,20}):(?=[^\s:/]) )?
        (?: "(?P<phrase>[^"]*)(?:"(?:~(?P<slop>\d{1,2}))?|$) | (?P<open>\() | (?P<word>[^\s()"]+) )
    | (?P<close>\)) | (?P<stray>\S) )""",
    re.VERBOSE,
)
_MODIFIED = re.compile(r"(?P<stem>.+?)(?:(?P<prefix>\*+)|~(?P<fuzzy>\d?))$")


class Word(NamedTuple):
    text: str
    field: str = ""
    prefix: bool = False
    distance: int = 0


class Phrase(NamedTuple):
    text: str
    field: str = ""
    slop: int = 0


class AllOf(NamedTuple):
    parts: tuple["Node", ...]


class AnyOf(NamedTuple):
    parts: tuple["Node", ...]


class Not(NamedTuple):
    part: "Node"


Node = Word | Phrase | AllOf | AnyOf | Not


class _Open(NamedTuple):
    """A parenthesis that is not closed yet, or the whole query."""

    parts: list[Node]
    minus: bool
    field: str


def parse(text: str) -> tuple[AllOf, list[str]]:
    """Parses a query. The notes say which parts were read in another way than written."""
    notes: list[str] = []
    if len(text) > LONGEST:
        text = text[:LONGEST]
        notes.append(f"only the first {LONGEST:,} characters of the query count")
    levels = [_Open([], False, "")]
    words = 0
    joins = False  # whether there is an OR before the next part
    for token in _TOKEN.finditer(text):
        if token["close"]:
            if len(levels) > 1:
                _close(levels)
            joins = False
            continue
        if token["stray"]:
            continue
        word = token["word"] or ""
        if word in ("OR", "|", "||") and not token["minus"] and not token["field"]:
            joins = bool(levels[-1].parts)
            continue
        if word in ("AND", "&&") and not token["field"]:
            continue
        field, as_text = _field(token["field"] or levels[-1].field, notes)
        if token["open"]:
            if len(levels) <= DEEPEST:
                levels.append(_Open([], bool(token["minus"]), field))
                if joins:
                    levels[-2].parts.append(_JOIN)
            joins = False
            continue
        words += 1
        if words > MOST_WORDS:
            notes.append(f"only the first {MOST_WORDS} words of the query count")
            break
        node: Node
        if token["phrase"] is not None:
            if token["phrase"].strip() and token[0].count('"') == 1:
                notes.append("a quotation mark is not closed: all words after it are searched for as one phrase")
            node = Phrase(as_text + token["phrase"], field, int(token["slop"] or 0))
        else:
            node = _word(as_text + word, field)
        if joins:
            levels[-1].parts.append(_JOIN)
        levels[-1].parts.append(Not(node) if token["minus"] else node)
        joins = False
    while len(levels) > 1:
        _close(levels)
    return AllOf(_joined(levels[0].parts)), notes


_JOIN = AnyOf(())  # marks an OR between two parts, until `_joined` replaces the three with one part


def _close(levels: list[_Open]) -> None:
    inner = levels.pop()
    group: Node = AllOf(_joined(inner.parts))
    levels[-1].parts.append(Not(group) if inner.minus else group)


def _joined(parts: list[Node]) -> tuple[Node, ...]:
    """Replaces the parts around each OR with one part."""
    done: list[Node] = []
    joining = False
    for part in parts:
        if part is _JOIN:
            joining = bool(done)
        elif joining:
            before = done.pop()
            alternatives = before.parts if isinstance(before, AnyOf) else (before,)
            done.append(AnyOf((*alternatives, part)))
            joining = False
        else:
            done.append(part)
    return tuple(done)


def _field(name: str, notes: list[str]) -> tuple[str, str]:
    """Returns the field of this name. If there is none, returns the name as text to search for."""
    if not name or name.startswith(DATA):
        return name, ""
    known = _OTHER_NAMES.get(name.lower(), name.lower())
    if known in FIELDS:
        return known, ""
    fields = f"{', '.join(FIELDS)} and data.NAME"
    notes.append(f"there is no field {name!r} (the fields are {fields}): it was searched for in the text")
    return "", f"{name}:"


def _word(text: str, field: str) -> Word:
    modified = _MODIFIED.fullmatch(text)
    if modified is None:
        return Word(text, field)
    if modified["prefix"]:
        return Word(modified["stem"], field, prefix=True)
    distance = min(int(modified["fuzzy"] or 1), LONGEST_DISTANCE)
    return Word(modified["stem"], field, distance=distance)
