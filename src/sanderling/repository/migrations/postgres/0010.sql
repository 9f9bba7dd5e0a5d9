-- Which pages show an image. Of an image that is on many pages only the first are kept (`repository/shown.py`).
CREATE TABLE shown (image int8 NOT NULL, page int8 NOT NULL, PRIMARY KEY (image, page));
CREATE INDEX shown_by_page ON shown (page);
-- A version that only says that an image on the page changed has the content of the one before.
ALTER TABLE versions ADD COLUMN marked int NOT NULL DEFAULT 0;
DROP INDEX version_place;
CREATE UNIQUE INDEX version_place ON versions (warc, "offset") WHERE marked = 0;
