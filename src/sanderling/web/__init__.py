"""The dashboard and the HTTP API for one or more crawl folders.

`app.py` connects the parts. `sanderling serve` is a process of its own. It reads crawl folders
(`shelf.py`), starts crawls as further processes (`running.py`), talks to a running crawl through
the folder's socket, and never writes its state. Programs use `api/`, people `pages/`. Both read
through `repository/views.py`, where every list is read from a key on and each look is bounded, so
that a million URLs cost no more than a hundred (`python -m bench dashboard`; figures in
`docs/dashboard.md`). Every request passes `middleware.py` (the host name asked for, who asks, the
headers of the answer) and, when it changes something, the guard in `security.py`. A page is a
function that fills a template (`templates/`, Jinja, all escaped) and works as plain HTML; htmx
renews fragments, such as a running crawl's (`pages/live.py`). Drawings are SVG elements whose
geometry is a pure function (`pages/plots.py`). Long work is done in the background: indexing
(`indexes.py`), freshness (`estimates.py`). Archived pages are shown by another app on another port
(`sandbox.py`), with the files of their time (`repository/replay.py`) and links that lead to other
archived pages (`documents/rewriting.py`, `archived_page.py`). Memento clients ask `memento.py`.
"""
