"""Experiments that measure how good the algorithms are. Nothing in a crawl depends on this room."""
