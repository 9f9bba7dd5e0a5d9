-- URLs in the order they were found, and what went wrong among them, for people to page through.
CREATE INDEX found ON urls (number);
CREATE INDEX troubles ON urls (state, number) WHERE state IN (4, 5);
