-- Files with the same bytes are kept once: their versions have one place.
DROP INDEX version_place;
CREATE INDEX version_place ON versions (warc, "offset") WHERE marked = 0;
