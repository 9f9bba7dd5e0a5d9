-- What rendering the pages of a host brings, by pattern, in the encoding of `model.rendering`.
ALTER TABLE hosts ADD COLUMN rendering bytea NOT NULL DEFAULT '';
