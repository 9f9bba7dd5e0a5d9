-- When each source that names single pages named a page last, in seconds since 1970. Most pages have no row.
CREATE TABLE notices (page INTEGER PRIMARY KEY, indexnow REAL NOT NULL DEFAULT 0, websub REAL NOT NULL DEFAULT 0,
    report REAL NOT NULL DEFAULT 0);
