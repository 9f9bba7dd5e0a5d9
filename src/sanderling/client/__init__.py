"""A client crawler: takes a lease, asks robots, fetches, parses, reports. One plain loop around one CurlMulti."""
