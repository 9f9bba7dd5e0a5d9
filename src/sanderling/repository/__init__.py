"""What a crawl folder holds: state in a database, bodies in WARC files, and the lock that keeps
writers apart."""
