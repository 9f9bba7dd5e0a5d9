-- What changed from version to version, what the next visit is compared with, and when a page is visited again.
ALTER TABLE pages ADD COLUMN parameters BLOB NOT NULL DEFAULT x'';
ALTER TABLE pages ADD COLUMN noise BLOB NOT NULL DEFAULT x'';
ALTER TABLE pages ADD COLUMN not_modified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN same INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN kinds INTEGER NOT NULL DEFAULT 16;
ALTER TABLE versions ADD COLUMN significance REAL NOT NULL DEFAULT 1;
ALTER TABLE versions ADD COLUMN degree TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN summary TEXT NOT NULL DEFAULT 'new';
ALTER TABLE versions ADD COLUMN news INTEGER NOT NULL DEFAULT 1;
CREATE INDEX revisits ON urls (host, due) WHERE state IN (3, 5) AND due > 0;
