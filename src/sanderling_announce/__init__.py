"""The program beside a web site that announces which of its pages are new, changed or gone.

`sanderling announce` and the small package `sanderling-announce` are both this. It needs nothing
but Python 3.9, on any platform. What can be done better with other libraries is passed in
(`tools.py`).

It only reads the site. What it found is in its memory (`memory.py`), from which the report is
written (`publishing.py`), so that it can be killed at any moment. Pages come from a folder
(`scanning.py`, and `watching.py` for events) or from a list of URLs and versions (`listing.py`).
One loop runs them all (`announcer.py`), for the command line in `command.py`.

The report is a folder of static files that is published with the site:

  manifest.jsonl               the cursor, the deltas and the sitemap by name; signed
  delta-AFTER-TO-HASH.jsonl    what changed after one cursor and up to another, best rank first
  sitemap.xml                  all pages with the exact times of their last change
  sitemap-*-HASH.xml           its parts, and a copy of sitemap.xml that the manifest signs

Only the manifest and sitemap.xml ever change. All other names hold a hash of the content, so that
they can be cached for ever, and so that the signature of the manifest covers them, too.
"""

__version__ = "0.1.0"
