-- What a client says of the relevance of links and pages, and what the user's extractors return for a version. What a
-- page is compared by is called its fingerprint: parameters are those of URLs. The priority that a sitemap gives was
-- never read.
ALTER TABLE urls DROP COLUMN priority, ADD COLUMN relevance float8 NOT NULL DEFAULT 0;
ALTER TABLE pages RENAME COLUMN parameters TO fingerprint;
ALTER TABLE pages ADD COLUMN relevance float8 NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN extracted text;
