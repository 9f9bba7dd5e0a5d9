-- Everything is created in the namespace of the crawl, which is the search path.
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE hosts (
    id bigint PRIMARY KEY, origin text NOT NULL, robots bytea, not_before float8 NOT NULL, interval float8 NOT NULL,
    learned bytea NOT NULL);
CREATE TABLE urls (
    id bigint PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), host bigint NOT NULL,
    via bigint NOT NULL, alias bigint NOT NULL, rank float8 NOT NULL, due float8 NOT NULL DEFAULT 0,
    modified float8 NOT NULL, priority float8 NOT NULL, depth int NOT NULL, attempts int NOT NULL DEFAULT 0,
    hops int NOT NULL, state int NOT NULL, kind int NOT NULL, url text NOT NULL, anchor text NOT NULL,
    reason text NOT NULL);
CREATE INDEX queue ON urls (host, rank DESC, number) WHERE state = 1 AND due = 0;
CREATE INDEX retries ON urls (due) WHERE state = 1 AND due > 0;
CREATE INDEX revisits ON urls (host, due) WHERE state IN (3, 5) AND due > 0;
CREATE INDEX aliases ON urls (alias) WHERE alias <> 0;
CREATE INDEX held ON urls (host) WHERE state = 0;
CREATE TABLE warcs (
    number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, bytes bigint NOT NULL);
CREATE TABLE pages (
    id bigint PRIMARY KEY, status int NOT NULL, fetched_at float8 NOT NULL, changed_at float8 NOT NULL,
    visits int NOT NULL, changes int NOT NULL, importance float8 NOT NULL, size bigint NOT NULL,
    digest bytea NOT NULL, text_digest bytea NOT NULL, mime text NOT NULL, charset text NOT NULL,
    language text NOT NULL, title text NOT NULL, etag text NOT NULL, modified text NOT NULL, flags int NOT NULL,
    redirect bigint, canonical bigint NOT NULL, simhash bigint NOT NULL, warc int, "offset" bigint NOT NULL,
    length bigint NOT NULL, parameters bytea NOT NULL DEFAULT '', noise bytea NOT NULL DEFAULT '',
    not_modified int NOT NULL DEFAULT 0, same int NOT NULL DEFAULT 0);
CREATE INDEX claims ON pages (canonical) WHERE canonical <> 0;
CREATE TABLE versions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, page bigint NOT NULL, at float8 NOT NULL,
    status int NOT NULL, digest bytea NOT NULL, text_digest bytea NOT NULL, size bigint NOT NULL, mime text NOT NULL,
    warc int NOT NULL, "offset" bigint NOT NULL, length bigint NOT NULL, kinds int NOT NULL DEFAULT 16,
    significance float8 NOT NULL DEFAULT 1, degree text NOT NULL DEFAULT '', summary text NOT NULL DEFAULT 'new',
    news int NOT NULL DEFAULT 1);
CREATE UNIQUE INDEX version_place ON versions (warc, "offset");
CREATE INDEX version_page ON versions (page);
-- Packed identities are hashes: trying to compress them is wasted.
CREATE TABLE links (page bigint PRIMARY KEY, targets bytea NOT NULL);
ALTER TABLE links ALTER COLUMN targets SET STORAGE EXTERNAL;
CREATE TABLE reports (client text PRIMARY KEY, number bigint NOT NULL);
