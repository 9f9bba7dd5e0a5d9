"""Intervals that adapt: shorter after a visit that found something, longer after one that did not.

For pages this is Nutch's schedule, kept to be measured against. Sitemaps are read by it too: what they bring is not
their own freshness but news of others, so their worth has no curve.
"""

# Nutch's factors and limits, in days.
_SHORTER, _LONGER = 0.8, 1.2
NUTCH_FIRST, NUTCH_SHORTEST, NUTCH_LONGEST = 30.0, 0.1, 365.0
# A sitemap costs one visit and speaks for all pages in it.
SITEMAP_FIRST, SITEMAP_SHORTEST, SITEMAP_LONGEST = 1.0, 1 / 24, 30.0


def nutch_interval(interval: float, changed: bool) -> float:
    return min(max(interval * (_SHORTER if changed else _LONGER), NUTCH_SHORTEST), NUTCH_LONGEST)


def sitemap_interval(interval: float, brought_news: bool) -> float:
    return min(max(interval * (0.5 if brought_news else 1.5), SITEMAP_SHORTEST), SITEMAP_LONGEST)
