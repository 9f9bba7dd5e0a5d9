"""Where a report is: at a well-known address, or where robots.txt says."""

WELL_KNOWN = ".well-known/sanderling/"
MANIFEST = "manifest.jsonl"
SITEMAP = "sitemap.xml"


def robots_lines(report: str) -> str:
    """What a robots.txt has to say when a report is published below a URL."""
    return f"Announce: {report}{MANIFEST}\nSitemap: {report}{SITEMAP}\n"
