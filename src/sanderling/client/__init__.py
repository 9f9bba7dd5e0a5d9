"""A client crawler: takes a lease, asks robots, fetches, reads, reports. One plain loop, in one
thread."""
