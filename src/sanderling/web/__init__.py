"""The dashboard and the HTTP API for one or more crawl folders.

`app.py` connects the parts. `shelf.py` finds and opens the folders, and `security.py` decides who
may do what. `api/` answers programs and `pages/` answers people. `sandbox.py` shows archived pages
on an origin of their own.
"""
