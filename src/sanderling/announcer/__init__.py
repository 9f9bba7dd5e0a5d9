"""The program beside a web site that announces which of its pages are new, changed or gone
(`sanderling announce`).

It only reads the site. What it found is in its memory (`memory.py`), from which the report is
written (`publishing.py`), so that it can be killed at any moment. Pages come from a folder
(`scanning.py`, and `watching.py` for events) or from a list of URLs and versions (`listing.py`).
One loop runs them all (`announcer.py`).
"""
