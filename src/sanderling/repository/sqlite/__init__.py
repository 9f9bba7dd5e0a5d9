"""The embedded store: one SQLite file in WAL mode, one writing process, any number of readers.

What a crawl writes all the time is appended: URLs in the order they are found, pages, versions and
links in the order of the first visit. A URL's row says which page is its; `identities` finds the
row. So a commit costs the same at ten thousand URLs and at ten million. The queue is a partial
index by host and rank: its cost does not grow with what is done. Counts are kept beside the rows
they count, in the same transaction, so that no command ever scans a table to know how far a crawl
is. The tables are in `migrations/sqlite`.
"""

from sanderling.repository.sqlite.database import SCHEMA
from sanderling.repository.sqlite.reading import SqliteReading
from sanderling.repository.sqlite.server_queries import SqliteServerQueries
from sanderling.repository.sqlite.writing import SqliteWriting

__all__ = ["SCHEMA", "SqliteStore"]


class SqliteStore(SqliteWriting, SqliteServerQueries, SqliteReading):
    """A `Store` in one file."""
