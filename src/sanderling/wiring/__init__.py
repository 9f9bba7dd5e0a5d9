"""Connects the rooms: the one place that knows them all.

seeds ─► dispatcher ─► gate ─► ranking ─► store ─► distributor ─► allocator ═lease═► client crawler ─► web
             ▲                              ▲                                               │
             └───────── new URLs ─────── intake ◄══════════════════report═══════════════════┘

`frontier` knows what is to be visited, `desk` takes in what was, `crawl` runs both with the client processes,
`client` is the life of such a process, and `archive` opens crawl folders for all who read them.
"""
