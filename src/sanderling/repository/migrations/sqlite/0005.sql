-- Pages that say that they stand for another URL, and URLs that are held back.
CREATE INDEX claims ON pages (canonical) WHERE canonical != 0;
CREATE INDEX held ON urls (host) WHERE state = 0;
