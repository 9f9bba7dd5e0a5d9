-- URLs that could not be fetched, in the order of commits: what readers of changes are told beside versions.
CREATE TABLE failures (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url bigint NOT NULL, -- urls.id
    at float8 NOT NULL,
    reason text NOT NULL
);
