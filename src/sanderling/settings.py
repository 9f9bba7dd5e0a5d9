"""All settings, each declared once: its name in `sanderling.toml`, its flag, its default, its unit
and its help.

The command line is built from this table. `sanderling.toml` is checked and the documentation is
tested against it. Durations take `500ms`, `10s`, `5m`, `2h`, `1d`; sizes take `512`, `64KiB`,
`16MiB`, `1GiB`, `2TiB`.
"""

import difflib
import json
import math
import os
import re
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import msgspec

from sanderling import __version__, credentials, plugins, retention
from sanderling.clock import DAY
from sanderling.errors import BadSetting
from sanderling.subscriptions import ChangeName, Notify
from sanderling.subscriptions import as_tables as notify_tables
from sanderling.urls import SEEDABLE, as_written, canonical, with_fragment
from sanderling.urls import origin as origin_of
from sanderling.watches import Watch, check_conditions
from sanderling.watches import as_tables as watch_tables

Scope = Literal["host", "domain", "prefix", "any"]
Render = Literal["never", "auto", "always"]


class VisitOrder(NamedTuple):
    """An order of visits that the user may choose. Its module in `server/ranking/orders` scores
    URLs."""

    help: str
    scored: bool = True  # by a job beside the crawl; else URLs are visited by their depth


ORDERS = {
    "pagerank": VisitOrder("by PageRank, computed from the links found so far"),
    "authority": VisitOrder("by authority: good hubs link to it, and good hubs are pages that link to authorities"),
    "backlinks": VisitOrder("by the number of known pages that link to it"),
    "opic": VisitOrder("by OPIC: each visited page shares its importance among the pages it links to"),
    "pvalue": VisitOrder("by the links expected on it, less the links to it"),
    "breadth-first": VisitOrder("by the distance from the seeds", scored=False),
    "depth-first": VisitOrder("what was found last, one page of a host after the other; for comparison", scored=False),
    "fish-search": VisitOrder(
        "by Fish search: links of pages on the topic, then those of their children; for comparison"
    ),
    "shark-search": VisitOrder(
        "by Shark search: by the words of a link, and the pages on the way to it; for comparison"
    ),
    "topic": VisitOrder("by how well it probably fits the topic of the crawl; the default with a topic"),
}


# They need a topic.
BY_TOPIC = ("topic", "fish-search", "shark-search")


def is_scored(order: str) -> bool:
    """Whether a job beside the crawl scores URLs for this order."""
    return order not in ORDERS or ORDERS[order].scored


# Where files of the user's own functions are named.
PLUGINS = ("extractors", "url_filters", "fetchers")
CHOICES: dict[str, tuple[str, ...]] = {
    "scope": get_args(Scope),
    "order": tuple(ORDERS),
    "render": get_args(Render),
    "forms": ("none", "search", "filters", "all-get"),
    "take_reset": ("time", "change"),
    "html_parser": ("turbohtml", "lexbor"),
    "compression": ("fast", "small"),
}
# Kinds of files that pages need not get, because their text is the same without.
BLOCKS = ("images", "fonts", "media", "styles", "none")
# Links by them are followed only if the user says so.
SCHEMES = ("ftp", "gopher")

DURATIONS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
SIZES = {
    "": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4,
    "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4,
}  # fmt: skip


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What counts as a change on some pages: nothing that `ignore` selects, and only what `watch`
    selects, if it is set. Then by patterns of lines; and when it is told.
    """

    urls: str = ""  # a pattern; empty for all pages
    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    keep_text: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    number: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_conditions(self.number)


class Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to send changes, and which. The default is all news."""

    url: str
    secret: str = ""  # signs deliveries; it can also be in a file or an environment variable
    secret_file: str = ""
    secret_env: str = ""
    kinds: tuple[ChangeName, ...] = ()
    min_significance: float = 0.0
    hosts: tuple[str, ...] = ()
    baseline: bool = False  # also the pages of the first crawl
    login: bool = False  # also pages that were read with a login
    allow_private: bool = False

    def __post_init__(self) -> None:
        if not as_written(self.url):
            raise ValueError("url must begin with http:// or https:// and a host")
        if sum(map(bool, (self.secret, self.secret_file, self.secret_env))) > 1:
            raise ValueError("set only one of secret, secret_file and secret_env")
        if not 0 <= self.min_significance <= 1:
            raise ValueError("min_significance must be from 0 to 1")

    def __repr__(self) -> str:
        """Without the secret, because settings may be shown or logged."""
        return f"Webhook({self.url!r})"


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session of the user's own at one origin: headers, the cookies of a file, or the way to log
    in.

    Values may be kept elsewhere (`credentials`). `cookies` always are: in the format of Netscape's
    cookies.txt.
    """

    origin: str = ""  # that of the page, unless it is given
    headers: dict[str, str] = {}
    cookies: str = ""
    page: str = ""  # the page with the login form
    fields: dict[str, str] = {}  # what to fill in there, by the name of the field
    shows: str = ""  # a text in the HTML of pages only while somebody is logged in

    def __post_init__(self) -> None:
        place = as_written(self.origin or self.page)
        if not place:
            raise ValueError("origin or page must begin with http:// or https:// and a host")
        if self.page and not (self.fields and self.shows):
            raise ValueError("a page needs fields, and shows: a text that pages contain only while you are logged in")
        if not (self.headers or self.cookies or self.page):
            raise ValueError("give headers, cookies, or a page and its fields")
        if self.cookies and not credentials.is_reference(self.cookies) and "\t" not in self.cookies:
            raise ValueError("cookies must be file:PATH or env:NAME")
        if any(not re.fullmatch(r"[A-Za-z0-9-]+", name) or name.lower() in NOT_OF_A_SESSION for name in self.headers):
            raise ValueError("headers has a name that is not allowed")
        if self.page and origin_of(as_written(self.page) or "") != origin_of(place):
            raise ValueError("page and origin are of different hosts")

    @property
    def place(self) -> str:
        """Its origin, as URLs have it."""
        return origin_of(as_written(self.origin or self.page) or "")

    def __repr__(self) -> str:
        """Without what is secret, because settings may be shown or logged."""
        return f"Login({self.place!r})"


# Headers that the crawler sets itself.
NOT_OF_A_SESSION = ("host", "content-length", "content-type", "transfer-encoding", "connection", "user-agent")


class Declared(NamedTuple):
    """What is said of a setting beside its type and its default."""

    name: str
    unit: Literal["duration", "size", "count", "number", "text", "flag", "list", "choice", "rules", "tables", "values"]
    group: str
    help: str
    least: float
    most: float | None
    metavar: str  # what stands for a value in the help of commands
    flag: str
    offered: float  # the most that a crawl from the API may have; 0 if the API does not offer it


ANY = math.inf


def _setting(
    unit: str, group: str, help: str, *, ge: float | None = None, le: float | None = None, metavar: str = "",
    flag: str = "", offered: float = 0,
) -> msgspec.Meta:  # fmt: skip
    """`ge` and `le` are given where 0 or a large number makes no sense. `flag` is given where the
    flag is not the name."""
    more = {"unit": unit, "group": group, "metavar": metavar, "flag": flag, "offered": offered}
    return msgspec.Meta(description=help, ge=ge, le=le, extra=more)


# fmt: off
class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one crawl. The defaults are polite.

    Each is declared here and nowhere else. The least duration is a millisecond, because libcurl
    counts them.
    """

    scope: Annotated[Scope, _setting("choice", "Scope", "which discovered links to follow: links to the seeds' host, their registered domain, their path prefix, or any", offered=ANY)] = "host"
    include: Annotated[tuple[str, ...], _setting("list", "Scope", "follow only links that match this pattern (RE2 syntax; repeatable)", offered=ANY)] = ()
    exclude: Annotated[tuple[str, ...], _setting("list", "Scope", "never follow URLs that match this pattern (RE2 syntax; repeatable)", offered=ANY)] = ()
    url_filters: Annotated[tuple[str, ...], _setting("list", "Scope", "your own functions that say which URLs are not followed: file.py:function, package.module:function or the name of an entry point (repeatable)", metavar="FUNCTION", flag="--url-filter")] = ()
    follow_schemes: Annotated[tuple[str, ...], _setting("list", "Scope", "also follow links by these schemes: ftp, gopher (repeatable); listings and menus are read", metavar="SCHEMES", offered=ANY)] = ()
    follow_links: Annotated[bool, _setting("flag", "Scope", "follow the links of pages and sitemaps; without it, only what your extractors follow")] = True
    sitemaps: Annotated[bool, _setting("flag", "Scope", "read the sitemaps that robots.txt names, or else /sitemap.xml (not with max_depth)", offered=ANY)] = True
    reports: Annotated[bool, _setting("flag", "Scope", "in a refresh, read the reports in which sites announce their changes")] = True
    report_at: Annotated[tuple[str, ...], _setting("list", "Scope", "read this report of a site; add #KEY when another host serves it (repeatable)")] = ()
    report_interval: Annotated[float, _setting("duration", "Scope", "shortest pause between two looks at a report")] = 10.0
    heed_taken: Annotated[bool, _setting("flag", "Scope", "leave a site alone while its report says that another crawler is at work there")] = True
    take_at: Annotated[tuple[str, ...], _setting("list", "Scope", "reserve a site during a refresh, so that other crawlers wait: URL#env:NAME or URL#file:PATH, the announcer's /begin and its token (repeatable)")] = ()
    take_reset: Annotated[str, _setting("choice", "Scope", "when a reserved site is free again: after a time, or also at the first change of a page")] = "time"
    images: Annotated[bool, _setting("flag", "Scope", "also fetch the images on pages, each as its own page, and compare their pixels", offered=ANY)] = False
    requisites: Annotated[bool, _setting("flag", "Scope", "also fetch the files that pages need, from any host: style sheets, scripts, images, fonts, media, frames; they do not count as pages", offered=ANY)] = False
    hold: Annotated[bool, _setting("flag", "Scope", "hold back URLs like others that brought nothing new, and those of mirrors; --no-hold visits them all, and may never finish on a site with a trap")] = True
    order: Annotated[str, _setting("choice", "Scope", f"the order of visits: {', '.join(ORDERS)}", offered=ANY)] = "pagerank"
    topic: Annotated[str | None, _setting("text", "Topic", "keep to a topic: a model that `sanderling topic` made, or some words; several with `;` between them", offered=ANY)] = None
    relatedness: Annotated[float, _setting("number", "Topic", "a page of at least this relevance is on the topic, from 0 to 1", le=1, offered=ANY)] = 0.5
    tunnel_depth: Annotated[int, _setting("count", "Topic", "follow links through at most this many pages in a row that are not on the topic", offered=ANY)] = 3
    min_harvest: Annotated[float, _setting("number", "Topic", "stop when less than this share of the last 500 pages is on the topic (0: never)", le=1, offered=ANY)] = 0.0
    topic_share: Annotated[float, _setting("number", "Topic", "stop when about this share of the topic's pages is found (0: never)", le=1, offered=ANY)] = 0.0
    cut_short: Annotated[bool, _setting("flag", "Topic", "stop loading a page when its first kilobytes are not on the topic", offered=ANY)] = False
    forms: Annotated[str, _setting("choice", "Forms", "which forms to fill in and send: none, search (search forms), filters (those, and forms of selects), or all-get (every harmless GET form)")] = "none"
    form_queries: Annotated[int, _setting("count", "Forms", "send at most this many queries of one form a day")] = 100
    form_pages: Annotated[int, _setting("count", "Forms", "read at most this many pages of the results of one query")] = 10
    form_post: Annotated[tuple[str, ...], _setting("list", "Forms", "also send the POST form with this action, which must not change anything (repeatable)", metavar="URL")] = ()
    form_values: Annotated[dict[str, tuple[str, ...]], _setting("values", "Forms", "what to fill in, by the name or label of a field; only in sanderling.toml, as [forms.values]")] = {}
    max_pages: Annotated[int | None, _setting("count", "Limits", "stop at exactly this many stored pages, including pages of earlier runs", offered=ANY)] = None
    max_depth: Annotated[int | None, _setting("count", "Limits", "follow links at most this many steps from a seed", offered=ANY)] = None
    max_time: Annotated[float | None, _setting("duration", "Limits", "stop a run after this time", offered=ANY)] = None
    max_bytes: Annotated[int | None, _setting("size", "Limits", "stop when all runs together have downloaded this much", offered=ANY)] = None
    collection: Annotated[int, _setting("count", "Limits", "keep at most this many pages; a more important page found later replaces the least important one", ge=1)] | None = None
    always: Annotated[tuple[str, ...], _setting("list", "Limits", "always keep this page, whatever collection, topic and scope say, and keep it fresh: a refresh visits it first (repeatable)", metavar="URL", offered=ANY)] = ()
    clients: Annotated[int, _setting("count", "Speed", "number of client processes (0: one per core), or MIN..MAX: as many as the work needs", le=1_000, offered=4 * (os.cpu_count() or 1))] = 0
    min_clients: Annotated[int, _setting("count", "Speed", "the MIN of clients = MIN..MAX (0: always as many as clients says)", le=1_000)] = 0
    connections: Annotated[int, _setting("count", "Speed", "maximum requests in flight per client", ge=1, le=16_000, offered=4000)] = 1000
    body_memory: Annotated[int, _setting("size", "Speed", "memory per client for bodies in flight, at least twice max_body (and max_media, with requisites); when it is used up, requests wait")] = 256 << 20
    per_host: Annotated[int, _setting("count", "Manners", "maximum connections to one host; raise it only for your own site", ge=1, le=16_000, offered=100)] = 1
    by_address: Annotated[bool, _setting("flag", "Manners", "hosts at one IP address share one pause and one client, as if they were one host (not through a proxy)")] = False
    assignment: Annotated[str | None, _setting("text", "Network", "your own function that says which client a host belongs to: file.py:function, package.module:function or the name of an entry point (default: a hash of the host)", metavar="FUNCTION")] = None
    delay: Annotated[float | None, _setting("duration", "Manners", "fixed pause between fetches from one host, instead of the adaptive pause", offered=DAY)] = None
    delay_factor: Annotated[float, _setting("number", "Manners", "adaptive pause: this many times as long as the last fetch took", offered=1000)] = 4.0
    max_delay: Annotated[float, _setting("duration", "Manners", "maximum length of the adaptive pause", offered=DAY)] = 30.0
    ignore_robots: Annotated[bool, _setting("flag", "Manners", "ignore robots.txt, robots meta tags and X-Robots-Tag; only for your own site", offered=ANY)] = False
    follow_nofollow: Annotated[bool, _setting("flag", "Manners", "follow links marked rel=nofollow", offered=ANY)] = False
    allow_private: Annotated[bool, _setting("flag", "Manners", "let discovered links lead to loopback, private and link-local addresses")] = False
    private_seeds: Annotated[bool, _setting("flag", "Manners", "allow seeds at such addresses; off for crawls that are created through the API")] = True
    user_agent: Annotated[str, _setting("text", "Manners", "the User-Agent header; robots rules are matched by the product names in it", offered=ANY)] = f"Sanderling/{__version__}"
    contact: Annotated[str | None, _setting("text", "Manners", "URL or mail address of the operator of the crawl, added to the user agent", offered=ANY)] = None
    proxy: Annotated[str | None, _setting("text", "Network", "proxy for every request: an http://, https://, socks5:// or socks5h:// address, or env:NAME or file:PATH, where the address is kept", metavar="URL")] = None
    cookies: Annotated[bool, _setting("flag", "Network", "keep cookies during a run; links that log out are then not followed", offered=ANY)] = False
    login: Annotated[tuple[Login, ...], _setting("tables", "Network", "your own session at a site: headers, cookies or the way to log in; only in sanderling.toml")] = ()
    fetchers: Annotated[tuple[str, ...], _setting("list", "Network", "your own fetchers around that of the product, named like extractors; the last one is the outermost (repeatable)", metavar="FUNCTION", flag="--fetcher")] = ()
    skip_types: Annotated[tuple[str, ...], _setting("list", "Network", "do not keep bodies of this media type, e.g. video/ or image/png (repeatable)", metavar="TYPE", offered=ANY)] = ()
    body_types: Annotated[tuple[str, ...], _setting("list", "Network", "keep only bodies of this media type, e.g. text/html; other pages are read, and their size and digest are kept (repeatable)", metavar="TYPE")] = ()
    body_urls: Annotated[tuple[str, ...], _setting("list", "Network", "keep only bodies of URLs that match this pattern (RE2 syntax; repeatable)")] = ()
    body_text: Annotated[bool, _setting("flag", "Network", "keep the text and the links of pages instead of their bodies")] = False
    body_changed: Annotated[bool, _setting("flag", "Network", "keep a new version of a page only if its text changed")] = False
    html_parser: Annotated[str, _setting("choice", "Network", "what parses HTML: turbohtml, or lexbor, which takes longer and needs `pip install 'sanderling[lexbor]'`")] = "turbohtml"
    revisit_records: Annotated[bool, _setting("flag", "Network", "archive visits that found nothing new as WARC revisit records")] = False
    max_body: Annotated[int, _setting("size", "Network", "keep at most this much of a body, after decompression", offered=1 << 30)] = 16 * 1024**2
    max_media: Annotated[int, _setting("size", "Network", "leave out a file of a page, such as a video, that is larger than this")] = 64 * 1024**2
    connect_timeout: Annotated[float, _setting("duration", "Network", "time limit for connecting", ge=0.001, offered=600)] = 10.0
    first_byte_timeout: Annotated[float, _setting("duration", "Network", "time limit for the first byte of an answer", ge=0.001, offered=600)] = 30.0
    fetch_timeout: Annotated[float, _setting("duration", "Network", "time limit for a whole fetch", ge=0.001, offered=3600)] = 120.0
    low_speed_time: Annotated[float, _setting("duration", "Network", "give up a body that arrives at less than 100 bytes/s for this time", ge=0.001, offered=3600)] = 20.0
    retries: Annotated[int, _setting("count", "Network", "number of retries after a time-out, a broken connection, 429 or 5xx", offered=20)] = 2
    retry_wait: Annotated[float, _setting("duration", "Network", "wait before the first retry; it doubles each time", offered=3600)] = 5.0
    host_patience: Annotated[float, _setting("duration", "Network", "how long to wait for a host that answered before and cannot be reached now")] = 600.0
    render: Annotated[Render, _setting("choice", "Rendering", "render pages in a browser: never, auto (where it brings more text or links) or always", offered=ANY)] = "auto"
    render_include: Annotated[tuple[str, ...], _setting("list", "Rendering", "render only pages that match this pattern (RE2 syntax; repeatable)")] = ()
    block: Annotated[tuple[str, ...], _setting("list", "Rendering", "files that rendered pages do not get: images, fonts, media, styles or none (repeatable); with requisites, none is the default", metavar="KIND")] = ("images", "fonts", "media")
    wait_for: Annotated[tuple[str, ...], _setting("list", "Rendering", "read a page only when this CSS selector matches, or its time is over; PATTERN => SELECTOR for some pages (repeatable)", metavar="SELECTOR")] = ()
    run_script: Annotated[tuple[str, ...], _setting("list", "Rendering", "run this JavaScript file on a page before it is read; PATTERN => FILE for some pages (repeatable)", metavar="FILE")] = ()
    close_banners: Annotated[bool, _setting("flag", "Rendering", "refuse and remove the cookie banners of common consent tools")] = True
    click_links: Annotated[bool, _setting("flag", "Rendering", "click on the buttons of rendered pages to see where they lead; nothing but scripts and styles is fetched for it")] = True
    screenshots: Annotated[bool, _setting("flag", "Rendering", "keep a screenshot of each version of a rendered page", offered=ANY)] = False
    render_timeout: Annotated[float, _setting("duration", "Rendering", "a page that has not settled after this time is read as it is", ge=0.001)] = 30.0
    render_tabs: Annotated[int, _setting("count", "Rendering", "pages that a client renders at the same time", ge=1, le=100)] = 4
    render_memory: Annotated[int, _setting("size", "Rendering", "a page that uses more memory than this is ended", ge=1)] = 1024**3
    states: Annotated[int, _setting("count", "Rendering", "also visit up to this many states of a rendered page that clicks and scrolling lead to", le=10_000)] = 0
    state_depth: Annotated[int, _setting("count", "Rendering", "events one after the other that may lead to a state", le=20)] = 3
    state_time: Annotated[float, _setting("duration", "Rendering", "time limit for finding the states of a page")] = 120.0
    reported_only: Annotated[bool, _setting("flag", "Rendering", "for states, try only the events that the report of a site names")] = False
    browser: Annotated[str | None, _setting("text", "Rendering", "the program to render with (default: the first Chromium that is found)", metavar="PROGRAM")] = None
    browser_sandbox: Annotated[bool, _setting("flag", "Rendering", "render only where the browser gets its sandbox and an empty network namespace")] = True
    rules: Annotated[tuple[Rule, ...], _setting("rules", "Changes", "parts of pages to ignore or to watch, by selectors and patterns; only in sanderling.toml", offered=ANY)] = ()
    down_after: Annotated[float, _setting("duration", "Changes", "tell that a site is down when it has stayed away for this time")] = 300.0
    keep: Annotated[str, _setting("text", "Changes", f"how long versions are kept: {retention.EXPECTED}; the last one of a page always is", metavar="HOW", offered=ANY)] = retention.ALL
    watch: Annotated[tuple[Watch, ...], _setting("tables", "Changes", "pages to visit at an interval of their own, as `sanderling watch` writes them; only in sanderling.toml")] = ()
    extractors: Annotated[tuple[str, ...], _setting("list", "Data", "your own functions that take data from pages: file.py:function, package.module:function or the name of an entry point (repeatable)", metavar="FUNCTION", flag="--extractor")] = ()
    index: Annotated[bool, _setting("flag", "Search", "keep the search index up to date beside the crawl, with at most a tenth of a core; otherwise the next search does it")] = True
    webhook: Annotated[tuple[Webhook, ...], _setting("tables", "Notifications", "where to send changes as they are found; only in sanderling.toml")] = ()
    notify: Annotated[tuple[Notify, ...], _setting("tables", "Notifications", "who is told of changes by mail, chat or another service: a list of Apprise addresses, or tables; only in sanderling.toml")] = ()
    keep_fresh: Annotated[str, _setting("text", "Service", "refresh with this budget, such as 2000/h, while `sanderling serve --keep-fresh` runs", offered=ANY)] = ""
    quiet: Annotated[str, _setting("text", "Service", "hours without visits by that service, such as 22:00-06:30, in local time", offered=ANY)] = ""
    cluster: Annotated[str | None, _setting("text", "Cluster", "run the clients on the machines of a Ray cluster: auto for the one that this machine is part of, or HOST:PORT of its head")] = None
    hosts: Annotated[str, _setting("text", "Cluster", "run the clients on these hosts, with commas between them: a cluster of them is started over ssh, and stopped when the run ends", metavar="HOSTS")] = ""
    hosts_ssh: Annotated[str, _setting("text", "Cluster", "the command that reaches the hosts", metavar="COMMAND")] = "ssh"
    hosts_program: Annotated[str, _setting("text", "Cluster", "the program on the hosts", metavar="PATH")] = "sanderling"
    cluster_compress: Annotated[bool, _setting("flag", "Cluster", "send archives as zstd; it pays where the line between the machines is slow")] = False
    cluster_patience: Annotated[float, _setting("duration", "Cluster", "how long a machine that cannot be reached keeps its leases; its clients end themselves before that", ge=0.001)] = 30.0
    levels: Annotated[int, _setting("count", "Cluster", "levels of machines: with 2 or more, machines of other regions are reached through a relay among them", ge=1)] = 1
    fan_out: Annotated[int, _setting("count", "Cluster", "machines that the server and each relay serve at most; 0 for any number")] = 0
    relay_alone: Annotated[float, _setting("duration", "Cluster", "how long a relay goes on with what it holds when its line to the server is away")] = 120.0
    min_free: Annotated[int, _setting("size", "Store", "stop cleanly when less disk space than this is free")] = 100 * 1024**2
    compression: Annotated[str, _setting("choice", "Store", "how archives are compressed: fast, or small, which saves a tenth and takes 0.2 ms more for a page")] = "fast"
    archive: Annotated[str | None, _setting("text", "Store", "bring archives to object storage when they are complete: s3://bucket/prefix; credentials are those of the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL ...)", metavar="URL")] = None
    store: Annotated[str | None, _setting("text", "Store", "where to keep the state: empty for SQLite in the folder, or postgresql://user@host/database, or env:NAME or file:PATH, where the address is kept", metavar="URL")] = None
# fmt: on


def _declared(name: str, hint: Any) -> Declared:
    meta = next(each.__metadata__[0] for each in (hint, *get_args(hint)) if hasattr(each, "__metadata__"))
    more = dict(meta.extra)
    units = {"list": "PATTERN", "duration": "TIME", "choice": "WHICH"}
    more["metavar"] = more["metavar"] or units.get(more["unit"], more["unit"].upper())
    more["flag"] = more["flag"] or "--" + name.replace("_", "-")
    most = meta.le if meta.le is not None else _MOST.get(more["unit"])
    return Declared(name=name, help=meta.description, least=meta.ge or 0, most=most, **more)


# Where nothing else is said: 100 years, and whole numbers that fit into a message.
_MOST: dict[str, float] = {"duration": 36_500 * DAY, "count": 2**63 - 1, "size": 2**63 - 1}
DECLARED = [_declared(*each) for each in Settings.__annotations__.items()]
_BY_NAME = {each.name: each for each in DECLARED}
Table = TypeVar("Table", bound=msgspec.Struct)


def read_value(name: str, value: Any) -> Any:
    """Reads the value of a setting from TOML or the command line. Raises BadSetting if it is
    wrong.
    """
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, _BY_NAME, 1)
        raise BadSetting(f"unknown setting {name!r}{f'; did you mean {near[0]}?' if near else ''}")
    declared = _BY_NAME[name]
    if declared.unit == "tables":
        return _READERS[name](value)
    found = _in_unit(name, declared.unit, value)
    _check_bounds(declared, value, found)
    if name in HIDEABLE and credentials.is_reference(found.partition("?")[0]):
        return found
    if name == "proxy" and found and not as_written(found, PROXIES):
        raise BadSetting(
            f"{name} = {without_password(found)!r} is not an http://, https://, socks5:// or socks5h:// address"
        )
    if name == "store" and found and not (_STORE.fullmatch(found) and _NAMES_DATABASE.search(found)):
        raise BadSetting(
            f"{name} = {without_password(found)!r} is not an address such as postgresql://user@host/database"
        )
    if name == "archive" and found and not _BUCKET.fullmatch(found):
        raise BadSetting(f"{name} = {without_password(found)!r} is not an address such as s3://bucket/prefix")
    if name == "take_at" and not all(map(_names_token, found)):
        urls = ", ".join(each.partition("#")[0] for each in found)
        raise BadSetting(f"{name} = {urls!r}: give URL#env:NAME or URL#file:PATH, where the token is kept")
    if name == "form_post":
        actions = [canonical(each) for each in found]
        if None in actions:
            raise BadSetting(f"{name} = {value!r} is not the URL of a form's action, such as https://example.org/find")
        return tuple(actions)
    if name == "always":
        pages = [with_fragment(each, SEEDABLE) for each in found]
        if None in pages:
            raise BadSetting(f"{name} = {value!r} is not the URL of a page, such as https://example.org/news")
        return tuple(pages)
    if name in ("user_agent", "contact") and not found.isascii():
        raise BadSetting(f"{name} = {value!r} must be ASCII, because it is sent in an HTTP header")
    if name == "user_agent" and not found.strip():
        raise BadSetting("user_agent is empty: give the name by which robots.txt can address the crawler")
    if name == "keep_fresh" and found and not re.fullmatch(r"\d+(?:\.\d+)?[A-Za-z]*/\d*[a-z]+", found):
        raise BadSetting(f"{name} = {value!r} is not a budget per time such as 2000/h or 50MB/d")
    if name == "keep":
        try:
            retention.read_keep(found)
        except ValueError:
            raise BadSetting(f"keep = {value!r} is not {retention.EXPECTED}") from None
    if name == "quiet" and found and not _HOURS.fullmatch(found):
        raise BadSetting(f"{name} = {value!r} is not a span such as 22:00-06:30")
    if name == "follow_schemes":
        found = tuple(dict.fromkeys(scheme for each in found for scheme in re.split(r"[,\s]+", each.lower()) if scheme))
        if not set(found) <= set(SCHEMES):
            raise BadSetting(f"{name} = {value!r} is not a list of some of {', '.join(SCHEMES)}")
    if name == "block" and not set(found) <= set(BLOCKS):
        raise BadSetting(f"{name} = {value!r} is not a list of some of {', '.join(BLOCKS)}")
    if name in ("skip_types", "body_types") and not all(re.fullmatch(r"[\w.+-]+(/[\w.+-]*)?", each) for each in found):
        raise BadSetting(f"{name} = {value!r} is not a list of media types such as video/ or image/png")
    return found


def _check_bounds(declared: Declared, value: Any, found: Any) -> None:
    if declared.least and found < declared.least:
        raise BadSetting(f"{declared.name} = {value!r} has to be more than 0")
    if declared.most is None or found <= declared.most:
        return
    if declared.unit == "number":
        raise BadSetting(f"{declared.name} = {value!r} is not a number from 0 to {declared.most:g}")
    most = f"{declared.most / DAY:,.0f} days" if declared.unit == "duration" else f"{declared.most:,}"
    raise BadSetting(f"{declared.name} = {value!r} is more than {most}")


def revealed(settings: Settings) -> Settings:
    """Settings with the values that are kept elsewhere, for who uses them. They must not be stored
    or shown.
    """
    if settings.login:
        settings = msgspec.structs.replace(settings, login=tuple(_revealed_login(each) for each in settings.login))
    if settings.take_at:
        parts = (each.partition("#") for each in settings.take_at)
        shown = tuple(f"{url}#{credentials.revealed('take_at', token)}" for url, _, token in parts)
        settings = msgspec.structs.replace(settings, take_at=shown)
    if not credentials.is_reference(settings.proxy):
        return settings
    return overlay(settings, {"proxy": credentials.revealed("proxy", settings.proxy)})


def _names_token(text: str) -> bool:
    """Whether it is an address, and where its token is kept."""
    url, _, token = text.partition("#")
    return bool(as_written(url)) and credentials.is_reference(token)


def tokens_from(folder: Path, addresses: Iterable[str]) -> tuple[str, ...]:
    """Addresses whose tokens are in files that are named from the folder on."""
    parts = (each.partition("#") for each in addresses)
    return tuple(f"{url}#{credentials.from_here(token, folder)}" for url, _, token in parts)


def _revealed_login(login: Login) -> Login:
    def values(name: str, table: dict[str, str]) -> dict[str, str]:
        return {key: credentials.revealed(f"{name}.{key} of a login", value) or "" for key, value in table.items()}

    cookies = credentials.revealed("cookies of a login", login.cookies) or ""
    if login.cookies and "\t" not in cookies:
        raise BadSetting(f"cookies = {login.cookies!r} of a login: there are no cookies in the format of cookies.txt")
    return msgspec.structs.replace(
        login, headers=values("headers", login.headers), fields=values("fields", login.fields), cookies=cookies
    )


def without_password(address: str) -> str:
    """An address for messages. What is in front of an @ may be a password, whatever the address
    looks like.
    """
    return re.sub(r"^((?:[^:/@]*://)?[^:@/]*):.*@", r"\1:...@", address, flags=re.DOTALL)


# These may contain a password, and may say where it is instead: `env:NAME` or `file:PATH`.
HIDEABLE = ("proxy", "store")
PROXIES = ("http://", "https://", "socks5://", "socks5h://")

_HOST = r"(?:\[[^\[\]/?@]+\]|[^\[\]:,/?@]*)(?::[1-9]\d{0,4})?"
# The syntax of libpq: several hosts or none, and a database or the name of a service that defines
# it.
_STORE = re.compile(rf"postgres(?:ql)?://(?:[^@/?]*@)?{_HOST}(?:,{_HOST})*(?:/[^/?]*)?(?:\?.*)?")
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,62}(?:/[\w!.*'()/-]*)?")
_NAMES_DATABASE = re.compile(r"://[^/?]*/[^?]|[?&](?:dbname|service)=[^&]")

_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
_HOURS = re.compile(f"{_CLOCK}-{_CLOCK}")


def _webhooks(value: Any) -> tuple[Webhook, ...]:
    found = _tables("webhook", Webhook, value)
    if len({each.url for each in found}) < len(found):
        raise BadSetting("webhook has the same url twice")
    return found


def _logins(value: Any) -> tuple[Login, ...]:
    found = _tables("login", Login, value)
    if len({each.place for each in found}) < len(found):
        raise BadSetting("login has the same origin twice")
    return found


def _notifications(value: Any) -> tuple[Notify, ...]:
    found = _tables("notify", Notify, notify_tables(value))
    if len({each.key for each in found}) < len(found):
        raise BadSetting("notify has the same address twice")
    return found


def _watches(value: Any) -> tuple[Watch, ...]:
    found = _tables("watch", Watch, watch_tables(value, seconds))
    if len({each.url for each in found}) < len(found):
        raise BadSetting("watch has the same url twice")
    return found


_READERS = {"webhook": _webhooks, "login": _logins, "notify": _notifications, "watch": _watches}


def _tables(name: str, kind: type[Table], value: Any) -> tuple[Table, ...]:
    """Reads a list of tables. Errors name the field but do not quote the value, because it contains
    secrets.
    """
    for number, table in enumerate(value if isinstance(value, list | tuple) else (), 1):
        for key in table if isinstance(table, dict) else ():
            if key not in kind.__struct_fields__:
                raise BadSetting(f"{name} number {number} has no key {key!r}{_misplaced(name, kind, key)}")
    try:
        return msgspec.convert(value, tuple[kind, ...])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise BadSetting(f"{name} is wrong: {error}") from None


def _misplaced(name: str, kind: type[Table], key: str) -> str:
    if key in _BY_NAME or key == "seeds":
        return f"; it is a setting of the crawl, so move it above the first [[{name}]]: below, it belongs to the {name}"
    near = difflib.get_close_matches(key, kind.__struct_fields__, 1)
    return f"; did you mean {near[0]}?" if near else ""


def _in_unit(name: str, unit: str, value: Any) -> Any:
    try:
        if unit == "duration":
            return _number(value, DURATIONS, "s")
        if unit == "size":
            return int(_number(value, SIZES, ""))
        if unit == "count":
            return _at_least_zero(int(value) if isinstance(value, str) else value, int)
        if unit == "number":
            return _at_least_zero(float(value) if isinstance(value, str) or type(value) is int else value, float)
        if unit == "flag" and isinstance(value, bool):
            return value
        if unit == "text" and isinstance(value, str) and value.isprintable():
            return value
        if unit == "choice" and (value in CHOICES[name] or (name == "order" and _is_offered(value))):
            return value
        if unit == "values":
            return msgspec.convert(value, dict[str, tuple[str, ...]])
        if unit == "rules":
            return msgspec.convert(value, tuple[Rule, ...])
        if unit == "list" and isinstance(value, list | tuple) and all(map(_is_line, value)):
            return tuple(value)
    except (msgspec.ValidationError, ValueError, TypeError, KeyError, OverflowError):
        pass
    expected = "one of " + ", ".join(CHOICES[name]) if unit == "choice" else _EXPECTED[unit]
    value = without_password(value) if name in HIDEABLE and isinstance(value, str) else value
    raise BadSetting(f"{name} = {value!r} is not {expected}")


def seconds(name: str, value: Any) -> float:
    """Reads a duration that is no setting, such as an option of one command."""
    return float(_in_unit(name, "duration", value))


_EXPECTED = {
    "duration": "a duration such as 10s, 5m or 2h",
    "size": "a size such as 64KiB or 16MiB",
    "count": "a whole number, 0 or more",
    "number": "a number, 0 or more",
    "text": "a text of one line",
    "flag": "true or false",
    "list": "a list of texts of one line, none of them empty",
    "rules": "a list of tables with urls, ignore, watch and the others of docs/changes.md",
    "values": "a table of lists of texts",
}


def _number(value: Any, units: dict[str, Any], bare: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(_at_least_zero(value, type(value)))
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value))
    if not match:
        raise ValueError
    return float(match[1]) * float(units[match[2] or bare])


def _is_offered(order: Any) -> bool:
    """Whether an installed package offers this order."""
    return isinstance(order, str) and plugins.installed(plugins.ORDERS, order) is not None


def _is_line(value: Any) -> bool:
    """Whether a value is one line of text. An empty pattern would match everything; usually it is
    an unset variable.
    """
    return isinstance(value, str) and value != "" and value.isprintable()


def _at_least_zero(value: Any, kind: type[Any]) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool) or value < 0 or not math.isfinite(value):
        raise ValueError
    return value


def overlay(base: Settings, values: dict[str, object]) -> Settings:
    """`base` with some other values."""
    values = _with_range(values)
    return msgspec.structs.replace(base, **{name: read_value(name, value) for name, value in values.items()})


def _with_range(values: dict[str, object]) -> dict[str, object]:
    """`clients = "2..8"` as two numbers."""
    clients = values.get("clients")
    if not isinstance(clients, str) or ".." not in clients:
        return values
    least, _, most = clients.partition("..")
    if not (least.isdigit() and most.isdigit() and 0 < int(least) <= int(most)):
        raise BadSetting(f"clients = {clients!r} is not a range such as 2..8")
    return {**values, "clients": most, "min_clients": least}


def with_changes(base: Settings, changes: dict[str, Any]) -> Settings:
    """`base` with some other values. None means the default."""
    defaults = {
        name: getattr(Settings(), name) for name, value in changes.items() if value is None and name in _BY_NAME
    }
    given = {name: value for name, value in changes.items() if name not in defaults}
    return msgspec.structs.replace(overlay(base, given), **defaults)


def load(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """The settings and seeds a crawl folder was started with."""
    try:
        table = tomllib.loads(path.read_text("utf-8-sig"))  # some editors write a byte order mark
    except UnicodeDecodeError:
        raise BadSetting(f"{path} is not in UTF-8: save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"{path} is not valid TOML: {error}") from None
    table = _with_forms(table)
    seeds = table.pop("seeds", [])
    if not isinstance(seeds, list) or not all(isinstance(seed, str) for seed in seeds):
        raise BadSetting(f"{path}: seeds is not a list of texts")
    if table.get("topic"):
        table.setdefault("order", "topic")
    try:
        settings = overlay(Settings(), table)
        login, take_at = (
            tuple(_from(path.parent, x) for x in settings.login),
            tokens_from(path.parent, settings.take_at),
        )
        notify = tuple(
            msgspec.structs.replace(each, to=credentials.from_here(each.to, path.parent) or "")
            for each in settings.notify
        )
        watch = tuple(
            msgspec.structs.replace(
                each,
                notify=tuple(credentials.from_here(to, path.parent) or "" for to in each.notify),
                script=str(path.parent / each.script) if each.script else "",
            )
            for each in settings.watch
        )
        rules = (*(rule for each in watch if (rule := rule_of(each)) != Rule(each.pattern)), *settings.rules)
        kept = {"login": login, "take_at": take_at, "notify": notify, "watch": watch, "rules": rules}
        return msgspec.structs.replace(settings, **kept), tuple(seeds)
    except BadSetting as error:
        raise BadSetting(f"{path}: {error}") from None


def is_quiet(hours: str, now: float) -> bool:
    """Whether a time is in a span of hours, which may go over midnight."""
    begins, _, ends = hours.partition("-")
    at = time.strftime("%H:%M", time.localtime(now))
    return bool(hours) and (begins <= at < ends if begins <= ends else at >= begins or at < ends)


def rule_of(watch: Watch) -> Rule:
    return Rule(
        watch.pattern, watch.ignore, watch.select, watch.keep_text, watch.ignore_text, watch.must, watch.must_not,
        watch.number,
    )  # fmt: skip


def watched_parts(settings: Settings) -> frozenset[str]:
    """The watched pages of which only parts count. A version is kept when these have changed."""
    return frozenset(
        each.url for each in settings.watch if each.select or each.ignore or each.keep_text or each.ignore_text
    )


def _from(folder: Path, login: Login) -> Login:
    """A login whose files are named from the folder on."""
    values = {
        name: {key: credentials.from_here(value, folder) or "" for key, value in getattr(login, name).items()}
        for name in ("headers", "fields")
    }
    return msgspec.structs.replace(login, cookies=credentials.from_here(login.cookies, folder) or "", **values)


def _with_forms(table: dict[str, Any]) -> dict[str, Any]:
    """A file with a table [forms], whose keys are settings: send, queries, pages, post and
    values.
    """
    forms = table.get("forms")
    if not isinstance(forms, dict):
        return table
    named = {"forms" if key == "send" else f"form_{key}": value for key, value in forms.items()}
    return {**{name: value for name, value in table.items() if name != "forms"}, **named}


def _toml(value: Any) -> str:
    """A value as TOML. For the values of settings, JSON is valid TOML, except for tables."""
    if isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, msgspec.Struct):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in msgspec.structs.asdict(value).items()) + " }"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k, ensure_ascii=False)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def dump(settings: Settings, seeds: tuple[str, ...]) -> str:
    """The `sanderling.toml` of a new crawl. It holds only values that are not the default."""
    lines = [
        "# The settings this crawl was started with; edit them and run `sanderling crawl -d` on this folder again.",
        "# Flags on the command line win over this file for one run. Every setting: docs/settings.md",
        f"seeds = {json.dumps(list(seeds), ensure_ascii=False)}",
    ]
    defaults = Settings()
    for each in DECLARED:
        value = getattr(settings, each.name)
        if value != getattr(defaults, each.name):
            lines.append(f"{each.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def amend(text: str, changes: dict[str, Any]) -> str:
    """Changes some settings in a `sanderling.toml` and leaves the rest as the user wrote it."""
    import tomlkit

    file = tomlkit.parse(text)
    for name, value in changes.items():
        if value is None:
            file.pop(name, None)
        else:
            file[name] = list(value) if isinstance(value, tuple) else value
    return tomlkit.dumps(file)
