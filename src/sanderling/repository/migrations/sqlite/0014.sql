-- Which pages (by their number in `pages`) show an image (by its number in `urls`). Of an image that is on many pages only
-- the first are kept (`repository/shown.py`).
CREATE TABLE shown (image INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (image, page)) WITHOUT ROWID;
CREATE INDEX shown_by_page ON shown (page);
-- A version that only says that an image on the page changed has the content of the one before.
ALTER TABLE versions ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
DROP INDEX version_place;
CREATE UNIQUE INDEX version_place ON versions (warc, offset) WHERE marked = 0;
