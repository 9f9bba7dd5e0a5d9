"""The clients of a crawl: how they are started, spoken with, fed with leases and replaced."""
