"""Experiments: what the algorithms are worth, measured. Nothing in a crawl depends on this room."""
