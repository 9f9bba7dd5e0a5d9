-- What is believed about when pages change, by the number of their URL, and how far hosts can be believed.
CREATE TABLE beliefs (
    page bigint PRIMARY KEY, at float8 NOT NULL, since float8 NOT NULL, kinds int NOT NULL, evidence bytea NOT NULL,
    interval float8 NOT NULL, tried float8 NOT NULL, failures int NOT NULL);
CREATE TABLE trust (host bigint PRIMARY KEY, learned bytea NOT NULL);
