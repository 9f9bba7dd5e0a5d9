-- What the first crawl folders were made with.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL, robots BLOB, not_before REAL NOT NULL, interval REAL NOT NULL);
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, depth INTEGER NOT NULL, state INTEGER NOT NULL,
    rank REAL NOT NULL, due REAL NOT NULL, attempts INTEGER NOT NULL, hops INTEGER NOT NULL,
    via INTEGER NOT NULL, url TEXT NOT NULL, anchor TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX queue ON urls (host, rank DESC) WHERE state = 1 AND due = 0;
CREATE INDEX retries ON urls (due) WHERE state = 1 AND due > 0;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, status INTEGER NOT NULL, fetched_at REAL NOT NULL, changed_at REAL NOT NULL,
    visits INTEGER NOT NULL, changes INTEGER NOT NULL, importance REAL NOT NULL, size INTEGER NOT NULL,
    digest BLOB NOT NULL, text_digest BLOB NOT NULL, mime TEXT NOT NULL, charset TEXT NOT NULL,
    language TEXT NOT NULL, title TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL,
    flags INTEGER NOT NULL, redirect INTEGER, warc INTEGER, offset INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE versions (
    number INTEGER PRIMARY KEY, page INTEGER NOT NULL, at REAL NOT NULL, status INTEGER NOT NULL,
    digest BLOB NOT NULL, text_digest BLOB NOT NULL, size INTEGER NOT NULL, mime TEXT NOT NULL,
    warc INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE UNIQUE INDEX version_place ON versions (warc, offset);
CREATE INDEX version_page ON versions (page);
CREATE TABLE links (page INTEGER PRIMARY KEY, targets BLOB NOT NULL);
CREATE TABLE warcs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL);
CREATE TABLE reports (client TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
