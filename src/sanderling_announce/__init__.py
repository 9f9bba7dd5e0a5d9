"""The program beside a web site that announces which of its pages are new, changed or gone.

`sanderling announce` and the small package `sanderling-announce` are both this. It needs nothing
but Python 3.9, on any platform. What can be done better with other libraries is passed in
(`tools.py`).

It only reads the site. What it found is in its memory (`memory.py`), from which the report is
written (`publishing.py`), so that it can be killed at any moment. Pages come from a folder
(`scanning.py`, and `watching.py` for events) or from a list of URLs and versions (`listing.py`).
One loop runs them all (`announcer.py`), for the command line in `command.py`. Threads only wait:
for events of the file system (`watching.py`), for answers (`pushing.py`), for crawlers
(`report_server.py`). A folder is compared with the memory in one pass, because both are sorted by
the bytes of the paths: even with a million pages, a scan holds only the largest folder.

Why a kill loses nothing and reports nothing twice: pages and their changes are recorded in one
transaction. Changes get their cursor in another, which is synced. Only then is the delta written,
as a pure function of the memory. After an interruption the same bytes are written again, so that
all readers read the same.

The report is a folder of static files that is published with the site:

  manifest.jsonl               the cursor, the deltas and the sitemap by name; signed
  delta-AFTER-TO-HASH.jsonl    what changed after one cursor and up to another, best rank first
  sitemap.xml                  all pages with the exact times of their last change
  sitemap-*-HASH.xml           its parts, and a copy of sitemap.xml that the manifest signs

Only the manifest and sitemap.xml ever change. All other names hold a hash of the content, so that
they can be cached for ever, and so that the signature of the manifest covers them, too.
"""

__version__ = "0.1.0"
