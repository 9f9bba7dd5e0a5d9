"""A running crawl: the server's loop, its frontier, the intake of reports, and control from outside.

seeds ─► dispatcher ─► gate ─► ranking ─► store ─► distributor ─► allocator ═lease═► client crawler ─► web
             ▲                              ▲                                               │
             └───────── new URLs ─────── intake ◄══════════════════report═══════════════════┘

`frontier` knows what is to be visited, `intake` commits what was, and `server` runs both with the client processes.
"""
