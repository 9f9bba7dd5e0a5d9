"""Sanderling: an incremental parallel web crawler."""
