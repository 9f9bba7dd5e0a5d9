"""A running crawl: the server's loop, its frontier, the intake of reports, and control from
outside.

seeds ─► dispatcher ─► gate ─► ranking ─► store ─► distributor ─► allocator ═lease═► client crawler
─► web
             ▲                              ▲                                               │
             └───────── new URLs ─────── intake ◄══════════════════report═══════════════════┘

`server` has the loop. `opening` opens the folder and `assembly` puts the parts together: `frontier`
knows what is to be visited, `intake` commits what was, `ledger` keeps the totals, `clients` leases
to the client processes and replaces them, `status` says how the crawl is doing.
"""
