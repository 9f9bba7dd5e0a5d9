-- When each source that names single pages named a page last, in seconds since 1970. Most pages have no row.
CREATE TABLE notices (page int8 PRIMARY KEY, indexnow float8 NOT NULL DEFAULT 0, websub float8 NOT NULL DEFAULT 0,
    report float8 NOT NULL DEFAULT 0);
