"""Renders pages that JavaScript makes, in a browser without a network: the client's own fetcher
makes its requests.

`fetcher.py` is a `Fetcher` around the one that uses libcurl. A page is fetched as always. Then
`deciding.py` decides whether a browser may bring more: by the document alone (`candidates.py`),
and by what samples of its URL pattern brought, which the server keeps with the host. If so,
`pool.py` gives the page to a tab.

- Each client has one browser. It is started with the first page that needs it, and ended when it
  has nothing to do (`starting.py`, `process.py`). It runs as an unprivileged user, in an empty
  network namespace and in its sandbox. Where the system forbids these, nothing is rendered unless
  the user says so by name.
- The client controls it over two pipes (`devtools.py`) that the client's loop watches. What takes
  several answers is a coroutine over that loop (`promises.py`). There is no second loop.
- Every request of a page goes through `door.py`: robots rules, private addresses, limits, a cache
  of static files, the archive. The document itself is answered from what was fetched.
- `rendering.py` is the life of one page: load it, wait until it has settled, read its DOM.
- The DOM goes through the reader of a client like any body, and is archived as a `conversion`
  record behind its response. `repository/warc.py` reads it like a response, so versions, search,
  diff and recovery need not know.
- `states.py` explores the states of a page: `exploring.py` tries events and finds states,
  `events.py` lists the events, and `event_path.py` writes the path to a state into its URL. States
  wait in `state_cache.py` until they are leased.
- `navigations.py` clicks on the buttons of a page that was read, to see where they lead within its
  application. The door then passes nothing but scripts and styles.
- `missing.py` renders documents that came with status 404, and tells pages of an application from
  pages that do not exist.
- What a page was made from (`sources.py`) is stored as its validator. A revisit compares it and
  renders only when something differs.
"""
