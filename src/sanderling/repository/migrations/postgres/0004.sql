-- Numbers are unique. Said so, one URL is looked up by its number as one, whatever the statistics say.
DROP INDEX found;
CREATE UNIQUE INDEX found ON urls (number);
