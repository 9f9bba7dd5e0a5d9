"""What an answer to a form says: its results, whether there are any, and where they go on."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from sanderling.model import NEAR_BITS
from sanderling.model.form_facts import Form, Submission, Turner
from sanderling.urls.query import names_in

_MASK = (1 << 64) - 1
_PAGER_NAMES = frozenset(
    [
        "p",
        "pg",
        "page",
        "paged",
        "start",
        "startwith",
        "startindex",
        "offset",
        "ofs",
        "from",
        "first",
        "next",
        "skip",
        "begin",
    ]
)


class Likeness(NamedTuple):
    """What tells whether two answers say the same."""

    gist: int
    core: int
    simhash: int

    def is_like(self, other: "Likeness") -> bool:
        if (self.core and self.core == other.core) or (self.gist and self.gist == other.gist):
            return True
        return (
            bool(self.simhash and other.simhash) and ((self.simhash ^ other.simhash) & _MASK).bit_count() <= NEAR_BITS
        )


class Split(NamedTuple):
    """The links of an answer by what they are."""

    results: list[int]
    refinements: list[int]


def split(
    links: Iterable[tuple[int, str]], answer: str, form: Form, values: Sequence[tuple[str, str]],
    turners: Collection[str], layout: Collection[int], echoes: Collection[str] = (),
) -> Split:  # fmt: skip
    """Results, and other views of the same answer: sorted, filtered once more, as CSV, its next
    page, the form with other words, or what the answer to nonsense offers, too (`echoes`)."""
    filled = {(name, value) for name, value in values if value}
    asked, sent = {*names_in(answer)}, set(parse_qsl(urlsplit(answer).query, keep_blank_values=True))
    stems = {_stem(form.action), _stem(answer)}
    texts = {field.name for field in form.fields if field.is_text}
    words = {(name, value) for name, value in filled if name in texts}
    found = Split([], [])
    for id, url in links:
        path, _, query = url.partition("?")
        pairs = set(parse_qsl(query, keep_blank_values=True))
        other = _stem(path) in stems and (
            _carries(query, filled)
            or len(asked & {*names_in(url)}) > 1
            or (bool(pairs) and pairs <= sent)
            or any(name in texts and value for name, value in pairs)
        )
        repeats = bool(words) and (_carries(query, words) or _returns(pairs, words) or masked(url, values) in echoes)
        if url == answer or url in turners or other or repeats:
            found.refinements.append(id)
        elif id not in layout:
            found.results.append(id)
    return found


def masked(url: str, values: Iterable[tuple[str, str]]) -> str:
    """A URL without the words asked for, the same for all words that only stand in it."""
    text = unquote_plus(url).lower()
    for _, value in values:
        if value:
            text = re.sub(rf"(?<!\w){re.escape(value.lower())}(?!\w)", "\0", text)
    return text


def _returns(pairs: Iterable[tuple[str, str]], filled: Collection[tuple[str, str]]) -> bool:
    """Whether a link leads back to the answer when it is done, such as one to a login."""
    return any("=" in value and _carries(value.partition("?")[2] or value, filled) for _, value in pairs)


def without_echo(url: str, form: Form, values: Iterable[tuple[str, str]]) -> str:
    """The URL of a record without parameters that only repeat the words asked for, such as those
    that it highlights. Names of the form's own fields are kept."""
    said = {value.lower() for _, value in values if len(value) > 2}
    own = {field.name for field in form.fields}
    path, mark, query = url.partition("?")
    if not mark or not said:
        return url
    parts = query.split("&")
    left = [part for part in parts if not _echoes(part, own, said)]
    return url if len(left) == len(parts) else path + ("?" + "&".join(left) if left else "")


def _echoes(part: str, own: Collection[str], said: Collection[str]) -> bool:
    ((name, value), *_) = parse_qsl(part, keep_blank_values=True) or [("", "")]
    return name not in own and value.lower() in said


def leads_on(target: str, form: Form, values: Sequence[tuple[str, str]]) -> bool:
    """Whether a redirect leads to the answer itself, not to the only record."""
    said = {value for _, value in values if value}
    pairs = parse_qsl(urlsplit(target).query, keep_blank_values=True)
    return _stem(target) == _stem(form.action) or any(value in said for _, value in pairs)


def next_page(turners: Iterable[Turner], page: int, asked: Collection[str]) -> Turner | None:
    """Where the results go on behind a page."""
    wanted = [each for each in turners if each.label == "next"] + [
        each for each in turners if each.label == str(page + 1)
    ]
    return next((each for each in wanted if f"{each.url}\n{each.body}" not in asked), None)


def next_by_url(links: Iterable[str], answer: str, asked: Collection[str]) -> Turner | None:
    """The link that differs from an answer only in one number, which is the next larger one. A
    pager need not say so in words."""
    place, query = answer.partition("?")[::2]
    now = dict(parse_qsl(query, keep_blank_values=True))
    larger = []
    for url in links:
        where, _, said = url.partition("?")
        then = dict(parse_qsl(said, keep_blank_values=True))
        names = [name for name in then.keys() | now.keys() if then.get(name) != now.get(name)]
        if where != place or len(names) != 1 or f"{url}\n" in asked:
            continue
        before, after = now.get(names[0]), then.get(names[0], "")
        # A number that the answer has not yet counts only by its name: others filter.
        counts = _is_number(before) if before is not None else names[0].lower().strip("_@") in _PAGER_NAMES
        if counts and _is_number(after) and int(after) > int(before or 0):
            larger.append((int(after), url))
    return Turner("next", min(larger)[1]) if larger else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def belongs(turner: Turner, submission: Submission, action: str) -> bool:
    """Whether a pager leads to more of the same answer: not into a calendar, or to another list of
    the site."""
    if submission.body:
        return bool(turner.body)
    path, _, query = turner.url.partition("?")
    filled = {(name, value) for name, value in submission.values if value}
    return urlsplit(path).netloc == urlsplit(action).netloc and (
        _carries(query, filled) or (not filled and _stem(path) == _stem(action))
    )


def pages(turner: Turner, submission: Submission, action: str) -> bool:
    """Whether a link that looks like a pager's is one of this answer, not a record whose name is a
    number or "next"."""
    return belongs(turner, submission, action) or "\0" in masked(turner.url, submission.values)


def _carries(query: str, filled: Collection[tuple[str, str]]) -> bool:
    """Whether a query has all that was filled in. Nothing filled in is carried by any other view of
    the form."""
    pairs = set(parse_qsl(query, keep_blank_values=True))
    return bool(query) and all(pair in pairs for pair in filled)


def _stem(path: str) -> str:
    """A path without what says in which format it is wanted."""
    path = path.partition("?")[0].rstrip("/")
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name.partition('.')[0]}"
