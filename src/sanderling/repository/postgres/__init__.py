"""The shared store: a PostgreSQL database, one writing server per crawl, any number of readers.

A crawl has a namespace of its own (see `address`), and a database that goes away does not end it
(see `session`).

Before an upgrade all tables are copied to the namespace NAME_schema_N, in the same transaction. To
go back: `DROP SCHEMA name CASCADE; ALTER SCHEMA name_schema_1 RENAME TO name`. The tables are in
`migrations/postgres`.
"""

from sanderling.repository.postgres.database import SCHEMA
from sanderling.repository.postgres.reading import PostgresReading
from sanderling.repository.postgres.server_queries import PostgresServerQueries
from sanderling.repository.postgres.writing import PostgresWriting

__all__ = ["SCHEMA", "PostgresStore"]


class PostgresStore(PostgresWriting, PostgresServerQueries, PostgresReading):
    """A `Store` in a namespace of a database."""
