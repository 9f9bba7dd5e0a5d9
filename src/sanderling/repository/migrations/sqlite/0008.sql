-- Pages, versions and links are appended in the order of the first visit, and a URL's row says which page is its. Keyed
-- by identities, which are hashes, every one of them lay on a page of its own. For the same reason the index of
-- identities is a table now that is written late, slice by slice: `swept` says up to which URL a slice is complete.
DROP INDEX identities;
CREATE TABLE identities (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO identities SELECT id, number FROM urls ORDER BY id;
CREATE TABLE swept (slice INTEGER PRIMARY KEY, number INTEGER NOT NULL);
WITH RECURSIVE slices (slice) AS (SELECT 0 UNION ALL SELECT slice + 1 FROM slices WHERE slice < 255)
    INSERT INTO swept SELECT slice, (SELECT coalesce(max(number), 0) FROM urls) FROM slices;
ALTER TABLE urls ADD COLUMN page INTEGER NOT NULL DEFAULT 0;
CREATE TABLE visited (
    number INTEGER PRIMARY KEY, url INTEGER NOT NULL, status INTEGER NOT NULL, fetched_at REAL NOT NULL,
    changed_at REAL NOT NULL, visits INTEGER NOT NULL, changes INTEGER NOT NULL, importance REAL NOT NULL,
    size INTEGER NOT NULL, digest BLOB NOT NULL, text_digest BLOB NOT NULL, mime TEXT NOT NULL, charset TEXT NOT NULL,
    language TEXT NOT NULL, title TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL, flags INTEGER NOT NULL,
    redirect INTEGER, canonical INTEGER NOT NULL, simhash INTEGER NOT NULL, warc INTEGER, offset INTEGER NOT NULL,
    length INTEGER NOT NULL, not_modified INTEGER NOT NULL DEFAULT 0, same INTEGER NOT NULL DEFAULT 0,
    parameters BLOB NOT NULL, noise BLOB NOT NULL);
INSERT INTO visited (
    url, status, fetched_at, changed_at, visits, changes, importance, size, digest, text_digest, mime, charset,
    language, title, etag, modified, flags, redirect, canonical, simhash, warc, offset, length, not_modified, same,
    parameters, noise)
    SELECT i.number, p.status, p.fetched_at, p.changed_at, p.visits, p.changes, p.importance, p.size, p.digest,
    p.text_digest, p.mime, p.charset, p.language, p.title, p.etag, p.modified, p.flags, p.redirect, p.canonical,
    p.simhash, p.warc, p.offset, p.length, p.not_modified, p.same, p.parameters, p.noise
    FROM pages p JOIN identities i ON i.id = p.id ORDER BY i.number;
UPDATE urls SET page = visited.number FROM visited WHERE visited.url = urls.number;
CREATE TABLE outlinks (page INTEGER PRIMARY KEY, targets BLOB NOT NULL);
INSERT INTO outlinks SELECT u.page, l.targets
    FROM links l JOIN identities i ON i.id = l.page JOIN urls u ON u.number = i.number WHERE u.page != 0 ORDER BY 1;
UPDATE versions SET page = u.page FROM identities i JOIN urls u ON u.number = i.number WHERE i.id = versions.page;
DROP TABLE pages;
DROP TABLE links;
ALTER TABLE visited RENAME TO pages;
ALTER TABLE outlinks RENAME TO links;
CREATE INDEX claims ON pages (canonical) WHERE canonical != 0;
