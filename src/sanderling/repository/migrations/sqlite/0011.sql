-- How many pages that are not on the topic of the crawl lie between a URL and the last one that is.
ALTER TABLE urls ADD COLUMN off_topic INTEGER NOT NULL DEFAULT 0;
