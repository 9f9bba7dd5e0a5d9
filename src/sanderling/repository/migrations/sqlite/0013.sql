-- Forms of pages, and what was sent of each. A submission is kept from before it is sent, so that none is sent twice.
CREATE TABLE forms (id INTEGER PRIMARY KEY, facts BLOB NOT NULL, learned BLOB NOT NULL DEFAULT x'');
CREATE TABLE submissions (id INTEGER PRIMARY KEY, form INTEGER NOT NULL, facts BLOB NOT NULL);
