"""Sanderling keeps a searchable, versioned copy of a part of the web fresh at the least cost."""

__version__ = "0.1.0"
