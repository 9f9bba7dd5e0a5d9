-- What went wrong, for people to page through: few of many.
CREATE INDEX troubles ON urls (state, number) WHERE state IN (4, 5);
