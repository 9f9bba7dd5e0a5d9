"""Adaptive intervals: shorter after a visit that found a change, longer after one that did not.

For pages this is the schedule of Apache Nutch; it is here for comparison. Sitemaps use adaptive
intervals too. The optimal schedule does not apply to them, because a sitemap is read for news of
other pages, not to be fresh itself.
"""

# Nutch's factors and limits, in days.
_SHORTER, _LONGER = 0.8, 1.2
NUTCH_FIRST, NUTCH_SHORTEST, NUTCH_LONGEST = 30.0, 0.1, 365.0
# Shorter than for pages: one visit to a sitemap informs about all pages in it.
SITEMAP_FIRST, SITEMAP_SHORTEST, SITEMAP_LONGEST = 1.0, 1 / 24, 30.0


def nutch_interval(interval: float, changed: bool) -> float:
    return min(max(interval * (_SHORTER if changed else _LONGER), NUTCH_SHORTEST), NUTCH_LONGEST)


def sitemap_interval(interval: float, brought_news: bool) -> float:
    return min(max(interval * (0.5 if brought_news else 1.5), SITEMAP_SHORTEST), SITEMAP_LONGEST)
