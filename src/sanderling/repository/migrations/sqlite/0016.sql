-- URLs that could not be fetched, in the order of commits: what readers of changes are told beside versions.
CREATE TABLE failures (
    number integer PRIMARY KEY,
    url integer NOT NULL, -- urls.number
    at real NOT NULL,
    reason text NOT NULL
);
