"""The dashboard and the HTTP API of one or many crawl folders.

`app.py` puts it together: `shelf.py` finds and opens the folders, `security.py` says who may do what, `api/` answers
programs, `pages/` answers people, `sandbox.py` shows archived pages on an origin of their own.
"""
