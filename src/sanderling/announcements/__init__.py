"""Reads the report of a site's changed pages that `sanderling_announce` writes: a signed manifest,
deltas and a sitemap.

A crawler reads the manifest (`read_manifest`), asks which deltas lead from its cursor to the newest
(`chain`), reads these (`read_delta`), or the sitemap when its cursor is too old. Everything it
reads may be the work of an enemy.
"""

from sanderling.announcements.deltas import read_delta
from sanderling.announcements.discovery import file_of_report, in_robots
from sanderling.announcements.failures import BadReport
from sanderling.announcements.manifest import Position, read_manifest
from sanderling_announce.change import EventHint, ReportedChange, combined
from sanderling_announce.deltas import Delta, chain, write_delta
from sanderling_announce.manifest import Base, Manifest, write_manifest
from sanderling_announce.naming import is_named_for, named_for
from sanderling_announce.places import MANIFEST, WELL_KNOWN, robots_lines

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
