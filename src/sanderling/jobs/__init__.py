"""Entry points of child processes that are not commands; the table is
`processes/entry_points.py`."""
