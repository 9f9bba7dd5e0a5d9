"""Writes sitemaps by sitemaps.org: parts, and an index of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from html import escape  # that of `xml` loads all of `urllib` and `ssl`
from typing import NamedTuple

# Of one part. The standard allows 50,000, which take 50 MB of memory to write; of parts, it allows
# as many.
MOST_PAGES = 2_000

_XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


class Listed(NamedTuple):
    url: str
    changed: float  # when; 0 when it is not known
    rank: float  # 0 to 1


def write_part(pages: Iterable[Listed]) -> bytes:
    lines = [f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{_XMLNS}">\n']
    for page in pages:
        changed = f"<lastmod>{lastmod(page.changed)}</lastmod>" if page.changed else ""
        lines.append(
            f"<url><loc>{escape(page.url, quote=False)}</loc>{changed}<priority>{page.rank:.2f}</priority></url>\n"
        )
    lines.append("</urlset>\n")
    return "".join(lines).encode()


def write_index(parts: Iterable[tuple[str, float]]) -> bytes:
    """An index of parts, by their URLs and the times of their newest change."""
    lines = [f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{_XMLNS}">\n']
    for url, changed in parts:
        said = f"<lastmod>{lastmod(changed)}</lastmod>" if changed else ""
        lines.append(f"<sitemap><loc>{escape(url, quote=False)}</loc>{said}</sitemap>\n")
    lines.append("</sitemapindex>\n")
    return "".join(lines).encode()


def lastmod(at: float) -> str:
    """A time by W3C, with milliseconds: a page may change twice in a second, and be fetched in
    between."""
    return datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
