"""Says why a crawl brought little, and which option brings more."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from sanderling.browser.candidates import may_need_a_browser
from sanderling.browser.finding import find as find_browser
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage, directives, readable_page
from sanderling.documents.reading import media_type
from sanderling.errors import Damaged
from sanderling.model import PageRow, Stored
from sanderling.model.reasons import argument_of, code_of
from sanderling.network import names
from sanderling.repository import warc
from sanderling.settings import Settings
from sanderling.urls import join, origin

# More sentences do not help.
_MOST = 3
# A page that asks for consent says little else.
_LONGEST_CONSENT = 200
_CONSENT = re.compile(r"\b(?:cookies?|consent\w*|einwillig\w*|consentement\w*|consentimiento\w*)\b", re.IGNORECASE)
_AGREE = re.compile(
    r"\b(?:accept\w*|agree|allow all|akzeptier\w*|zustimm\w*|einverstanden|aceptar|accetta)\b", re.IGNORECASE
)

_OWN = "(only for your own site)"
# By the code of the reason for which links were not followed.
_NOT_FOLLOWED = {
    "other-host": "{} to other hosts: `--scope domain` or `--scope any` follows them",
    "other-domain": "{} to other domains: `--scope any` follows them",
    "outside-prefix": "{} out of the path of the seed: `--scope host` follows them",
    "scheme": "{} to FTP or Gopher: `--follow-schemes ftp,gopher` follows them",
    "robots": "{} that robots.txt disallows: `--ignore-robots` follows them " + _OWN,
    "too-deep": "{} deeper than `--max-depth`: raise it to follow them",
    "include": "{} that match no `--include` pattern",
    "exclude": "{} that match an `--exclude` pattern",
}
_REFUSALS = {
    "401": "asks for a login (401): `[[login]]` in sanderling.toml uses yours",
    "402": "asks for a payment (402)",
    "403": "refuses this crawler (403): `--user-agent` and `--contact` say who you are, `[[login]]` logs in",
    "429": "wants fewer requests (429): raise `--delay`, and run the same command again later",
    "451": "refuses for legal reasons (451)",
}

# The archived response of a page; None if it cannot be read.
Read = Callable[[PageRow], warc.Archived | None]


def reader(warcs: Path) -> Read:
    def read(page: PageRow) -> warc.Archived | None:
        if page.warc is None:
            return None
        try:
            return warc.read(warcs, Stored(page.warc, page.offset, page.length))
        except (Damaged, OSError):
            return None

    return read


def why_little(
    seeds: Sequence[PageRow], pages: int, unfollowed: Mapping[str, int], settings: Settings, read: Read
) -> list[str]:
    """Sentences about a crawl of few pages, with what the user named; or without `seeds` about one
    that robots.txt disallows a third of, or more. `unfollowed` says for each reason how many URLs
    were not followed.
    """
    counts: Counter[str] = Counter()
    for why, count in unfollowed.items():
        counts[code_of(why)] += count
    if not seeds:
        return [*_not_followed({"robots": counts["robots"]})] if 2 * counts["robots"] >= pages else []
    said = dict.fromkeys(sentence for seed in seeds if (sentence := _of_seed(seed, read, settings, counts)))
    asked = Counter(code_of(seed.reason_code) for seed in seeds if seed.depth == 0)
    return [*said, *_not_followed({code: count - asked[code] for code, count in counts.most_common()})][:_MOST]


def _not_followed(counts: Mapping[str, int]) -> Iterable[str]:
    for code, count in counts.items():
        if count > 0 and code in _NOT_FOLLOWED:
            yield "not followed: " + _NOT_FOLLOWED[code].format(f"{count:,} link{'s' * (count > 1)}")


def _of_seed(seed: PageRow, read: Read, settings: Settings, unfollowed: Mapping[str, int]) -> str:
    """What one seed says against being crawled."""
    code, argument = code_of(seed.reason_code), argument_of(seed.reason_code)
    if code == "robots":
        return f"robots.txt of {origin(seed.url)} disallows {seed.url}: `--ignore-robots` fetches it {_OWN}"
    if code == "status" and argument in _REFUSALS:
        return f"{seed.url} {_REFUSALS[argument]}"
    if seed.redirect and any(unfollowed.get(code) for code in ("other-host", "other-domain", "outside-prefix")):
        return f"{seed.url} redirects to {seed.redirect}: if that is another site, crawl it, or use `--scope any`"
    archived = read(seed) if seed.status == 200 else None
    if archived is None:
        return ""
    headers = [(name.lower(), value) for name, value in archived.headers]
    mime, charset = media_type(dict(headers).get("content-type", ""))
    if kind_of(archived.body, mime, charset) != "html":
        return ""
    if may_need_a_browser(archived.body):
        if settings.render == "never":
            return f"{seed.url} says next to nothing without its scripts: `--render auto` runs them"
        if code == "not-rendered" or find_browser(settings.browser) is None:
            return f"{seed.url} says next to nothing without its scripts, and no browser ran them: install Chromium"
    tags = [value for name, value in headers if name == "x-robots-tag"]
    page = readable_page(archived.body, charset, seed.url)
    return _of_page(page, tags, settings) if page is not None else ""


def _of_page(page: HtmlPage, tags: list[str], settings: Settings) -> str:
    known_as = names(settings)
    head = page.head(known_as)
    links = {target for href in page.hrefs(follow_nofollow=True) if (target := join(head.base, href))} - {page.url}
    if links and not settings.ignore_robots:
        if head.nofollow or directives(tags, known_as)[0]:
            return f"{page.url} forbids robots to follow its links (nofollow): `--ignore-robots` follows them {_OWN}"
        followed = {target for href in page.hrefs(follow_nofollow=False) if (target := join(head.base, href))}
        if not settings.follow_nofollow and not followed - {page.url}:
            return f"{page.url} marks all of its links as nofollow: `--follow-nofollow` follows them"
    if page.document.select_one('input[type="password" i]') is not None:
        return f"{page.url} asks for a login: `[[login]]` in sanderling.toml uses yours"
    text = page.text()
    if len(text.split()) <= _LONGEST_CONSENT and _CONSENT.search(text) and _AGREE.search(text):
        return (
            f"{page.url} asks for consent first: `--render always` closes such banners, and `[[login]]` in"
            " sanderling.toml can send the cookie of your consent"
        )
    return "" if links else f"{page.url} has no links"
