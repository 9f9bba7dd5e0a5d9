"""The sitemap of a synthetic host: one file for a small host, an index of several files for a large
one."""

from datetime import UTC, datetime
from xml.sax.saxutils import escape

from sanderling.testing.synthetic import SyntheticWeb
from sanderling.testing.topology import PlannedPage

EPOCH = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
"""The date of time 0 of a synthetic web."""

URLS_PER_FILE = 2000
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def sitemap(web: SyntheticWeb, host: int, path: str, t: float) -> bytes | None:
    """The file at `/sitemap.xml` or, for a large host, one of `/sitemap-N.xml`. None for any other
    path."""
    total = web.topology.total[host]
    if path == "/sitemap.xml":
        if total <= URLS_PER_FILE:
            return _urlset(web, host, range(total), t)
        files = range((total + URLS_PER_FILE - 1) // URLS_PER_FILE)
        entries = "".join(f"<sitemap><loc>{web.base(host)}/sitemap-{n}.xml</loc></sitemap>\n" for n in files)
        return _document("sitemapindex", entries)
    number = path.removeprefix("/sitemap-").removesuffix(".xml")
    if not number.isdecimal() or f"/sitemap-{number}.xml" != path or int(number) * URLS_PER_FILE >= total:
        return None
    start = int(number) * URLS_PER_FILE
    return _urlset(web, host, range(start, min(start + URLS_PER_FILE, total)), t)


def _urlset(web: SyntheticWeb, host: int, numbers: range, t: float) -> bytes:
    entries = []
    for page in (PlannedPage(host, n) for n in numbers):
        if web.lifetime(page).covers(t):
            modified = _when(web.page_modified(page, t))
            entries.append(f"<url><loc>{escape(web.url(page))}</loc><lastmod>{modified}</lastmod></url>\n")
    return _document("urlset", "".join(entries))


def _document(root: str, entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_NAMESPACE}>\n{entries}</{root}>\n'.encode()


def _when(t: float) -> str:
    return datetime.fromtimestamp(EPOCH + t, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
