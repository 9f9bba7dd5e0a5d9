-- The change itself, before and after, in a few hundred characters.
ALTER TABLE versions ADD COLUMN excerpt text NOT NULL DEFAULT '';
