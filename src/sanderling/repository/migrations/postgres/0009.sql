-- Forms of pages, and what was sent of each. A submission is kept from before it is sent, so that none is sent twice.
CREATE TABLE forms (id bigint PRIMARY KEY, facts bytea NOT NULL, learned bytea NOT NULL DEFAULT '');
CREATE TABLE submissions (id bigint PRIMARY KEY, form bigint NOT NULL, facts bytea NOT NULL);
