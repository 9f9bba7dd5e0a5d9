"""Views: addresses under which a site shows once more what it shows elsewhere. The history, source,
print and sort orders of a page are such views, and so are its files at every commit.

The address of a view combines names that stand in other addresses already: the name of a page, and
a word for the way it is shown. A URL with a name of its own is never taken for a view, nor is one
that ends in a number, or one that a page redirects to. Combinations are told apart by their kind,
which is their folder, the program that answers, such as `print.php`, and the names of their
parameters. A few of each kind are visited. If they
bring neither lines that the host has not shown before nor links to pages that do, the others are
held back, and of many some more are tried at last: plain paths until hundreds of them brought
nothing, because a folder may repeat the names of another and say something else. A new kind gets
none if each of its parameters has brought nothing in many others, as with the orders of a table.
The page comes first: a view of it that was visited before would seem to bring what the page says.

What counts as new is measured against the pages of the host that are no combinations. So long
menus, and pages that differ in numbers only, do no harm.
"""

import re
from array import array
from collections.abc import Iterable
from functools import lru_cache
from math import isqrt
from typing import NamedTuple
from urllib.parse import unquote

import msgspec
from xxhash import xxh32_intdigest

from sanderling.client.lines import length_of
from sanderling.urls import identity

# So many of a kind are visited first, and of those that are held back when nothing else is left.
SAMPLES = 3
MOST_TRIED = 8
# A parameter has brought nothing after so many visits to URLs with it, or after SAMPLES beside one
# that has.
IN_OTHERS = 6
# Plain paths are held back for good after so many visits that brought nothing.
PATIENT = 300
# A redirect or an error counts as so many of them: a link to edit a page that asks for a login.
AS_MISSED = 10
# And then twice as many as were visited, until this number was and half of them were new.
PROVEN = 12
# A kind is worth its visits if one in this number brings something new: at least a quarter of what
# other pages of the host bring.
WORTH = 4
SHARE = 4
LEAST, MOST = 2, 64
# A last part of paths, such as `feed`, is a word for a view when it stands below this many names.
PARENTS = 3
# Folders that tell kinds apart. What lies deeper is judged with these until it was visited itself.
FOLDERS = 2
DEEPEST = 4
# A parameter with more different words for values than this names pages.
MOST_WORDS = 24

# What is remembered of a host: names, lines, kinds, last parts of paths, URLs under way. And of
# names, what is kept between runs.
MOST_NAMES = 200_000
MOST_LINES = 200_000
MOST_KINDS = 1_000
MOST_WORDS_BELOW = 5_000
MOST_UNDER_WAY = 20_000
MOST_KEPT = 16_384

_NAMES = re.compile(r"[^/:,;|]+")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$")
_PROGRAM = re.compile(r".+\.(?:php\d?|f?cgi|pl|py|aspx?|jspx?|do|action|exe)", re.IGNORECASE)
_WORD = re.compile(r"[_~.+-]?[a-z][a-z_-]{0,15}|[A-Z]{1,2}")
_DIGITS = re.compile(r"\d+|[0-9a-f]{8,}")
_SIGNS = re.compile(r"[\W_]+")
_AND = re.compile(r"[&;]")
_ENDS, _WHOLE = 0x5BD1E995, 0x1B873593  # any numbers


class ViewKind(msgspec.Struct, array_like=True):
    """What visits to the combinations of one kind brought."""

    text: str
    tried: int = 0
    new: int = 0
    sampled: int = 0  # how many were held back when some of them were tried last
    under_way: int = 0
    samples: int = SAMPLES
    deferred: bool = False  # the pages that it shows in another way come first
    missed: int = 0  # how many brought no page at all

    @property
    def known(self) -> bool:
        return self.tried >= self.samples

    @property
    def dull(self) -> bool:
        # The first one brought at least the menus of its kind.
        return self.known and (self.new - 1) * WORTH < self.tried - 1

    @property
    def seems_dull(self) -> bool:
        """Whether the first visits brought nothing, or will have to show it."""
        return self.tried + self.under_way >= SAMPLES and self.new <= 1

    @property
    def room(self) -> int:
        """How many more of its URLs may be visited now."""
        if self.dull:
            return 0
        if self.tried >= PROVEN and self.new * 2 >= self.tried:
            return MOST_UNDER_WAY
        return max(0, (2 * self.tried if self.known else self.samples - self.tried) - self.under_way)


class KeptViews(msgspec.Struct, array_like=True):
    """What is kept of a host between two runs, if there is anything to hold back."""

    kinds: list[ViewKind] = []
    names: bytes = b""
    # How much pages that are no combinations brought, in units of `client.lines`, and the sum of
    # the squares. Their ratio is what a good page brings, however many others there are.
    brought: int = 0
    squares: int = 0


class ViewAddress(NamedTuple):
    """What tells the kind of a URL."""

    kinds: list[str]  # by folder, the deepest first
    word: str  # the last part of its path with its parameters, if that is a word for a view


class HostViews:
    """The combinations of one host."""

    def __init__(self, kept: KeptViews) -> None:
        self.kinds = {kind.text: kind for kind in kept.kinds}
        self._names = set(array("I", kept.names))
        self._brought, self._squares = kept.brought, kept.squares
        self._lines: set[int] = set()
        self._below: dict[str, set[str]] = {}  # the names that a last part of paths stood below
        self._words: dict[str, set[str]] = {}
        self._programs: dict[str, set[str]] = {}  # last parts of paths that are asked for names, by folder
        self._under_way: dict[int, str] = {}  # combinations that are to be visited, with the kind that decided
        self._leads: dict[int, tuple[int, list[str]]] = {}  # URLs that only a dull combination led to, with that
        self._dull_now: dict[int, list[str]] = {}
        self._credited: set[int] = set()
        self._combinations: dict[int, str] = {}  # new ones, with the name that a link may say
        self._pages: set[int] = set()  # URLs without a query that were not visited yet

    def keep(self) -> KeptViews:
        if not any(kind.dull for kind in self.kinds.values()):
            return KeptViews()
        names = array("I", list(self._names)[-MOST_KEPT:])
        kinds = [msgspec.structs.replace(kind, under_way=0) for kind in self.kinds.values() if kind.tried]
        return KeptViews(kinds, names.tobytes(), self._brought, self._squares)

    # ---- what passes

    def claim(self, id: int, url: str) -> None:
        """Takes note of the names in a new URL. Of several with a new name, the first has it as its
        own."""
        path, _, query = url[url.find("/", 8) :].partition("?")
        parts = [part for part in path.split("/") if part]
        if not query and len(self._pages) < MOST_UNDER_WAY:
            self._pages.add(id)
        if not query and parts and len(self._names) < MOST_NAMES and not self._is_format(parts):
            self._names.add(_number("/".join(parts)) ^ _WHOLE)
        if query and parts and len(parts) <= FOLDERS + 1 and len(self._programs) < MOST_KINDS and _asks(query):
            programs = self._programs.setdefault("/".join(parts[:-1]), set())
            if len(programs) <= MOST_WORDS:
                programs.add(parts[-1])
        if self._combines(parts, query) and not self._is_number(url, parts):
            self._combinations[id] = "" if query or not parts or self._word(parts) else parts[-1]

    def place(self, id: int, url: str, anchor: str, via: int) -> str:
        """Takes a new URL that has claimed its names; the kind for which it is held back, if it
        is."""
        name = self._combinations.pop(id, None)
        if name is None or (name and names_it(anchor, name)):
            if via in self._dull_now and len(self._leads) < MOST_UNDER_WAY:
                self._leads[id] = via, self._dull_now[via]
            return ""
        found = self._address(url)
        kind = self._deciding(found)
        if not kind.known and any(identity(page) in self._pages for page in _shown(url, found.word)):
            kind.deferred = True
            return kind.text
        if not self.room(kind.text):
            return kind.text
        self.released(id, kind.text)
        return ""

    def room(self, text: str) -> int:
        """How many more URLs of a kind may be visited now."""
        kind = self.find(text)
        if kind.known:
            return kind.room
        named = [self.find(each, IN_OTHERS) for each in _parameters(text)]
        settled = any(each.dull for each in named)
        closed = named and not any(each.room and not (settled and each.seems_dull) for each in named)
        return 0 if closed or kind.deferred else kind.room

    def released(self, id: int, kind: str) -> None:
        """A URL that was held back is visited after all."""
        if len(self._under_way) < MOST_UNDER_WAY:
            self._under_way[id] = kind
            self.find(kind).under_way += 1
            for each in _parameters(kind):
                self.find(each, IN_OTHERS).under_way += 1

    def forget_lost(self) -> None:
        """Nothing is queued any more: what was under way was excluded, or merged with another."""
        self._under_way.clear()
        for kind in self.kinds.values():
            kind.under_way, kind.deferred = 0, False

    def sample(self, text: str, held: int) -> int:
        """How many are tried when nothing else is left. Those that only their names make views are
        all tried, until hundreds of them brought nothing; of the others, some, if they became twice
        as many since that was done last."""
        kind = self.find(text)
        plain = text.startswith("/") and text.endswith("*")
        if plain and kind.tried + (AS_MISSED - 1) * kind.missed < PATIENT:
            return min(held, max(SAMPLES, kind.tried))
        if held < 2 * kind.sampled:
            return 0
        kind.sampled = held
        return min(MOST_TRIED, isqrt(held) // 4)

    def find(self, text: str, samples: int = SAMPLES) -> ViewKind:
        kind = self.kinds.get(text)
        if kind is None:
            kind = self.kinds[text] = ViewKind(text, samples=samples)
            if len(self.kinds) > MOST_KINDS:
                self._forget_one()
        return kind

    # ---- what visits teach

    def report_begins(self) -> None:
        self._dull_now = {}

    def visited(self, id: int, url: str, lines: bytes | None, copy: bool = False) -> bool:
        """Takes a page; a `copy` has exactly the text of another. Whether a kind changed."""
        self._pages.discard(id)
        numbers = set(memoryview(lines or b"").cast("I"))
        fresh = numbers - self._lines
        if len(self._lines) > MOST_LINES:
            self._lines.clear()
        self._lines |= fresh
        brought = length_of(fresh)
        usual = self._squares / self._brought if self._brought else 0.0
        new = not copy if self._is_number(url, _parts(url)) else brought >= max(LEAST, usual / SHARE)
        changed = self._credit(id) if new else False
        if id in self._under_way:
            return self._judged(id, url, new) or changed
        brought = min(brought, MOST)
        self._brought += brought
        self._squares += brought * brought
        return changed

    def failed(self, id: int, url: str) -> bool:
        """A URL brought no page."""
        self._pages.discard(id)
        return id in self._under_way and self._judged(id, url, False, missed=True)

    def _judged(self, id: int, url: str, new: bool, missed: bool = False) -> bool:
        found = self._address(url)
        named = [found.word] if found.word else []
        parameters = _parameters(found.kinds[-1])
        kinds = [*dict.fromkeys([self._under_way.pop(id), *named, *found.kinds, *parameters])]
        if not new:
            self._dull_now[id] = kinds
        for text in parameters:
            self.find(text, IN_OTHERS)
        return self._count(kinds, new, missed)

    def _credit(self, id: int) -> bool:
        """A page is new: what led to it was worth its visit."""
        via, kinds = self._leads.pop(id, (0, []))
        if not via or via in self._credited:
            return False
        if len(self._credited) < MOST_UNDER_WAY:
            self._credited.add(via)
        before = [self.find(text).dull for text in kinds]
        for text in kinds:
            self.find(text).new += 1
        return before != [self.find(text).dull for text in kinds]

    def _count(self, kinds: Iterable[str], new: bool, missed: bool) -> bool:
        changed = False
        for text in kinds:
            kind = self.find(text)
            before = kind.known, kind.dull
            kind.tried += 1
            kind.new += new
            kind.missed += missed
            kind.under_way = max(0, kind.under_way - 1)
            changed |= before != (kind.known, kind.dull)
        return changed

    # ---- addresses

    def _combines(self, parts: list[str], query: str) -> bool:
        """Whether all names in a URL stand in others. They do from now on."""
        said = [*parts, *_values(query)] if query else parts
        names = [number for text in said for number in _numbers(text)]
        if not query and names:
            # Where a name ends a path for the first time, there is its page, although
            # `topic/some-name?post=7` was found before `topic/some-name`.
            names.append(names[-1] ^ _ENDS)
        for length in (1, 2):
            if len(parts) <= length or not _WORD.fullmatch(parts[-length]) or len(self._below) >= MOST_WORDS_BELOW:
                break
            self._below.setdefault("/".join(parts[-length:]), set()).add(parts[-length - 1])
        if self._names.issuperset(names):
            return bool(names)
        if len(self._names) < MOST_NAMES:
            self._names.update(names)
        return False

    def _is_program(self, parts: list[str], query: str) -> bool:
        """Whether the last part of a path says what answers, and the query which page. Where more
        than a few are asked so, they are pages."""
        if not parts or _PROGRAM.fullmatch(parts[-1]):
            return bool(parts)
        programs = self._programs.get("/".join(parts[:-1]), ())
        return parts[-1] in programs and len(programs) <= MOST_WORDS and _asks(query)

    def _is_format(self, parts: list[str]) -> bool:
        """Whether a path is that of a known page with an ending: `/issues/33.atom`."""
        name = parts[-1].rpartition(".")[0] if parts else ""
        if not name or not _ENDING.search(parts[-1]):
            return False
        return _number("/".join([*parts[:-1], name])) ^ _WHOLE in self._names

    def _is_number(self, url: str, parts: list[str]) -> bool:
        """Whether a URL ends in a number, as those of photos and stations do."""
        if "?" in url or not parts or any(map(str.isalpha, _ENDING.sub("", parts[-1]))):
            return False
        return not self._is_format(parts)

    def _word(self, parts: list[str]) -> str:
        """The end of a path that stands below many names: `history`, or `attachments/list`."""
        ends = ("/".join(parts[-length:]) for length in (1, 2) if len(parts) > length)
        return next((end for end in ends if len(self._below.get(end, ())) >= PARENTS), "")

    def _deciding(self, found: ViewAddress) -> ViewKind:
        """The kind that decides about a combination."""
        if found.word:
            return self.find(found.word)
        known = (kind for text in found.kinds if (kind := self.kinds.get(text)) is not None and kind.known)
        return next(known, None) or self.find(found.kinds[-1])

    def _address(self, url: str) -> ViewAddress:
        path, _, query = url[url.find("/", 8) :].partition("?")
        parts = [part for part in path.split("/") if part]
        pairs = [pair.partition("=") for pair in _AND.split(query)] if query else []
        asked = "?" + "&".join(sorted(self._parameter(name, value) for name, _, value in pairs)) if pairs else ""
        is_folder = path.endswith("/")
        folders = [_DIGITS.sub("0", part) for part in (parts if is_folder else parts[:-1])]
        least = min(FOLDERS, max(0, len(folders) - is_folder))
        depths = range(max(least, min(DEEPEST, len(folders))), least - 1, -1)
        above = [f"/{''.join(f'{part}/' for part in folders[:depth])}" for depth in depths]
        whole = f"/{''.join(f'{part}/' for part in folders)}"
        program = "*"
        if asked and not is_folder and self._is_program(parts, query):
            program = parts[-1]
        elif not asked and self._is_format(parts):
            program += parts[-1][parts[-1].rindex(".") :]
        word = self._word(parts)
        kinds = [each + (program if each == whole else "*") + asked for each in above]
        return ViewAddress(kinds, word and word + asked)

    def _parameter(self, name: str, value: str) -> str:
        """A parameter as part of a kind: with its value if that is a word for a view."""
        if not _WORD.fullmatch(value):
            return name
        words = self._words.setdefault(name, set())
        if len(words) <= MOST_WORDS:
            words.add(value)
        return name if len(words) > MOST_WORDS else f"{name}={value}"

    def _forget_one(self) -> None:
        idle = (text for text, kind in self.kinds.items() if not kind.dull and not kind.under_way)
        del self.kinds[next(idle, next(iter(self.kinds)))]


def _parameters(kind: str) -> list[str]:
    """A kind for each parameter of a kind, whatever its value and the others are."""
    folder, _, asked = kind.partition("?")
    names = dict.fromkeys(pair.partition("=")[0] for pair in asked.split("&")) if asked else ()
    return [f"{folder}?...{name}" for name in names if not name.startswith("...")]


def _shown(url: str, word: str) -> list[str]:
    """Where the page may be that a view shows."""
    path, question, _ = url.partition("?")
    if question:
        return [path]
    above = path.rstrip("/").removesuffix(word) if word else ""
    return [above, above.rstrip("/")] if above else []


def _asks(query: str) -> bool:
    """Whether a query has a name in it, and not only words, numbers and hashes."""
    values = (pair.partition("=")[2] for pair in _AND.split(query))
    return any(value and not _WORD.fullmatch(value) and not _DIGITS.fullmatch(value) for value in values)


def _values(query: str) -> list[str]:
    """The values in a query. Beside a name, a number says which version of it is meant."""
    values = [pair.partition("=")[2] for pair in _AND.split(query)]
    if any(not value.isdecimal() and not _WORD.fullmatch(value) for value in values if value):
        return [value for value in values if not value.isdecimal()]
    return values


def _parts(url: str) -> list[str]:
    """The parts of the path of a URL."""
    path, _, _ = url[url.find("/", 8) :].partition("?")
    return [part for part in path.split("/") if part]


@lru_cache(8192)  # most parts of paths are folders that others are in, too
def _numbers(part: str) -> tuple[int, ...]:
    """The names in a part of a URL."""
    return tuple([_number(_ENDING.sub("", name)) for name in _NAMES.findall(unquote(part) if "%" in part else part)])


def _number(name: str) -> int:
    """A name however it is written: `Some_page`, `some+page` and `some-page` are one."""
    plain = _SIGNS.sub("", unquote(name) if "%" in name else name).lower()
    return xxh32_intdigest((plain or name).encode("utf-8", "surrogatepass"))


def names_it(anchor: str, name: str) -> bool:
    """Whether the text of a link is the name of what it leads to."""
    plain = _SIGNS.sub("", name).lower()
    return len(plain) > 2 and plain in _SIGNS.sub("", anchor).lower()
