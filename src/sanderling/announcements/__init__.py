"""Writes and reads the report of a site's changed pages: a signed manifest, deltas and a sitemap.

A report is a folder of static files that is published with the site:

  manifest.jsonl               the cursor, the deltas and the sitemap by name; signed, replaced as a
  whole delta-AFTER-TO-HASH.jsonl    the pages that changed after one cursor and up to another, best
  rank first sitemap.xml                  all pages with the exact times of their last change, by
  the standard sitemap-*-HASH.xml           its parts, and a copy of sitemap.xml by the name that
  the manifest signs

Only the manifest and sitemap.xml ever change. All other names hold a hash of the content, so that
they can be cached for ever, and so that the signature of the manifest covers them, too.

A crawler reads the manifest (`read_manifest`), asks which deltas lead from its cursor to the newest
(`chain`), reads these (`read_delta`), or the sitemap when its cursor is too old. Everything it
reads may be the work of an enemy.
"""

from sanderling.announcements.change import EventHint, ReportedChange, combined
from sanderling.announcements.deltas import Delta, chain, read_delta, write_delta
from sanderling.announcements.discovery import MANIFEST, WELL_KNOWN, file_of_report, in_robots, robots_lines
from sanderling.announcements.failures import BadReport
from sanderling.announcements.manifest import Base, Manifest, Position, read_manifest, write_manifest
from sanderling.announcements.naming import is_named_for, named_for

__all__ = [
    "MANIFEST",
    "WELL_KNOWN",
    "BadReport",
    "Base",
    "Delta",
    "EventHint",
    "Manifest",
    "Position",
    "ReportedChange",
    "chain",
    "combined",
    "file_of_report",
    "in_robots",
    "is_named_for",
    "named_for",
    "read_delta",
    "read_manifest",
    "robots_lines",
    "write_delta",
    "write_manifest",
]
