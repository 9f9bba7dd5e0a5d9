-- What is believed about when pages change, by the number of their URL, and how far hosts can be believed.
CREATE TABLE beliefs (
    page INTEGER PRIMARY KEY, at REAL NOT NULL, since REAL NOT NULL, kinds INTEGER NOT NULL, evidence BLOB NOT NULL,
    interval REAL NOT NULL, tried REAL NOT NULL, failures INTEGER NOT NULL);
CREATE TABLE trust (host INTEGER PRIMARY KEY, learned BLOB NOT NULL);
