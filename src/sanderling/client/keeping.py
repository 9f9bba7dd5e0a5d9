"""Which bodies are kept: the filter before an archive is sent or stored. What is left out stays
recorded."""

import hashlib
from collections.abc import Callable
from html import escape

from msgspec.structs import replace
from xxhash import xxh3_64_digest

from sanderling.client.contents import Read
from sanderling.client.sketch import digest_of
from sanderling.model import Conversion, Exchange, Task, Visit
from sanderling.model.reasons import reason
from sanderling.settings import Settings, watched_parts
from sanderling.urls.patterns import pattern

# Why a body is left out, as the archive and the store say it.
REDUCED, SAME_TEXT = "only its text and links are", "its text is as before"


class BodyFilter:
    """The user's rules: by media type, by URL, by whether the text changed, and whether text and
    links are enough."""

    def __init__(self, settings: Settings) -> None:
        self._types = tuple(each.lower() for each in settings.body_types)
        self._urls = [pattern(each) for each in settings.body_urls]
        self.reduces = settings.body_text
        self._changed = settings.body_changed
        self._watched = watched_parts(settings)
        self._rule_for = _rules(settings) if settings.body_changed and settings.rules else None

    def objection(self, url: str, mime: str) -> str:
        """Why a body is not kept; empty when it is."""
        if self._types and not mime.startswith(self._types):
            return f"type {mime or 'unknown'}"
        if self._urls and not any(each.search(url) for each in self._urls):
            return "no pattern of body_urls matches"
        return ""

    def says_the_same(self, task: Task, read: Read) -> bool:
        """Whether a version is not kept, because its text is the one of the version before. Of a
        watched page, only what is watched counts."""
        if task.url in self._watched or (self._rule_for is not None and self._rule_for(task.url)):
            made = read.fingerprint or (read.condense("", b"") if read.condense is not None else b"")
            return bool(task.fingerprint_digest) and xxh3_64_digest(made) == task.fingerprint_digest
        return self._changed and bool(task.text_digest) and digest_of(read.words) == task.text_digest

    def filtered(self, visit: Visit, exchange: Exchange, url: str, read: Read) -> tuple[Visit, Exchange]:
        """Leaves the body out if the rules say so."""
        why = self.objection(url, visit.mime)
        if why:
            exchange = without_body(exchange, why)
        elif self.reduces and read.words is not None:
            why, exchange = REDUCED, reduced(exchange, read)
        return (replace(visit, reason=visit.reason or reason("body-left-out", why)) if why else visit), exchange


def body_filter(settings: Settings) -> BodyFilter | None:
    filters = (
        settings.body_types,
        settings.body_urls,
        settings.body_text,
        settings.body_changed,
        watched_parts(settings),
    )
    return BodyFilter(settings) if any(filters) else None


def _rules(settings: Settings) -> Callable[[str], bool]:
    from sanderling.change.judging import chooser  # late: few crawls have rules

    rule_for = chooser(settings.rules)
    return lambda url: bool((rule := rule_for(url)) and rule.select)


def without_body(exchange: Exchange, why: str) -> Exchange:
    """An exchange whose body is left out, with what it was."""
    digest = hashlib.sha1(exchange.body).hexdigest()
    notes = b"bodySize: %d\r\nbodyDigest: sha1:%b\r\nbodyLeftOut: %b\r\n" % (
        len(exchange.body), digest.encode(), why.encode("ascii", "replace"),
    )  # fmt: skip
    return exchange._replace(body=b"", left_out=True, conversion=None, notes=exchange.notes + notes)


def reduced(exchange: Exchange, read: Read) -> Exchange:
    """An exchange whose body is left out, with the text and the links of its page as a document of
    their own."""
    lines = "".join(f"<p>{escape(line)}</p>\n" for line in (read.words or "").splitlines() if line)
    anchors = "".join(f'<a href="{escape(link)}"></a>\n' for link in dict.fromkeys(read.hrefs))
    html = (
        f'<!DOCTYPE html>\n<html lang="{escape(read.language)}"><head><title>{escape(read.title)}</title></head>\n'
        f"<body>\n{lines}{anchors}</body></html>\n"
    )
    content = html.encode("utf-8", "replace")
    return without_body(exchange, REDUCED)._replace(conversion=Conversion(content, b"reducedTo: text and links\r\n"))
