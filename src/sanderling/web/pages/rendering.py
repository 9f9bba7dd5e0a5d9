"""Renders templates. Values are escaped; filters format numbers, times and addresses."""

import time
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sanderling import __version__
from sanderling.clock import DAY
from sanderling.presenting.screen import duration, harmless, many, size
from sanderling.urls import identity
from sanderling.web.api.inputs import named
from sanderling.web.pages import plots
from sanderling.web.security import Security, form_token

TABS = (
    ("", "Overview"),
    ("/changes", "Changes"),
    ("/pages", "Pages"),
    ("/search", "Search"),
    ("/broken", "Broken links"),
    ("/freshness", "Freshness"),
    ("/hosts", "Hosts"),
    ("/forms", "Forms"),
    ("/settings", "Settings"),
)
_STEPS = ((60, "second"), (3600, "minute"), (int(DAY), "hour"), (int(DAY) * 30, "day"), (int(DAY) * 365, "month"))


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(at))


def ago(at: float) -> str:
    """The distance of a time from now: `3 minutes ago`, `in 2 hours`."""
    away = time.time() - at
    if abs(away) < 2:
        return "just now"
    span = about(abs(away))
    return f"{span} ago" if away > 0 else f"in {span}"


def about(seconds: float) -> str:
    """A duration in its largest unit."""
    unit, size_of = "year", int(DAY) * 365
    below = 1
    for end, name in _STEPS:
        if seconds < end * 1.5:
            unit, size_of = name, below
            break
        below = end
    return many(max(1, round(seconds / size_of)), unit)


def number(count: float) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{count:,.1f}"


def percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.1 or not share else f"{share * 100:.1f} %"


def degree(word: str) -> str:
    """How much of a text changed, in words."""
    return {"complete": "all of the text", "no change": "", "no text change": ""}.get(
        word, f"{word} change" if word else ""
    )


def marked(excerpt: str) -> Markup:
    """An excerpt of a change with what was added and removed marked."""
    parts = []
    for part in excerpt.split("; "):
        sign, _, rest = part.partition(" ")
        tag = {"+": "ins", "−": "del"}.get(sign)
        text = escape(harmless(rest if tag else part))
        parts.append(Markup("<{0}>{1}</{0}>").format(tag, text) if tag else Markup("<span>{}</span>").format(text))
    return Markup(" ").join(parts)


def outward(url: str) -> str:
    """A crawled address, if a browser may follow it from here. Empty for other schemes than http
    and https."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("sanderling.web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {
        "iso": iso, "when": when, "ago": ago, "about": about, "many": many, "number": number, "percent": percent,
        "size": size, "duration": duration, "harmless": harmless, "degree": degree, "outward": outward, "hex": named,
        "page_id": lambda url: named(identity(url)), "marked": marked,
        "quoted": lambda text: quote(text, safe=""), "scaled": plots.scaled, "stacked": plots.stacked,
        "harmless_lines": lambda text: "\n".join(map(harmless, text.splitlines())),
    }  # fmt: skip
    made.globals |= {"version": __version__, "tabs": TABS, "here": ""}
    return made


_TEMPLATES = _environment()


def prepare() -> None:
    """Compiles all templates at the start, which takes 0.2 s, so that no request waits for it."""
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)


def show(
    request: Request, template: str, *, status: int = 200, crawl: str = "", tab: str = "", **values: object
) -> HTMLResponse:
    """Renders a page. A form in it calls `token()`, which starts a session if there is none."""
    security: Security = request.app.state.security
    text = _TEMPLATES.get_template(template).render(
        crawl=crawl, tab=tab, token=lambda: form_token(request),
        signed_in=security.locked and security.may_enter(request.state.session), **values,
    )  # fmt: skip
    return HTMLResponse(text, status)
