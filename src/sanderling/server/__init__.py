"""The server of a crawl: what is to be visited, who gets it, and what becomes of each report.

    seeds ─► scope ─► gate ─► ranking ─► store ─► queue ─► allocator ═lease═► client ─► web
               ▲                           ▲                                    │
               └──────── new URLs ───── intake ◄═════════════report═════════════┘

`loop` has the loop. `opening` opens the folder and `assembly` puts the parts together. The rooms
inside: `frontier` (what is to be visited), `gate` (other names of a page, and traps), `ranking`
(what comes first), `members` (the clients), `intake` (reports become commits), `revisits` (when to
come back), `requests` (what others ask of a running crawl) and `topic` (focused crawls).
"""
