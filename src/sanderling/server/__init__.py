"""The stages of the server: admits URLs, ranks them, leases them to clients and says what a visit
leaves behind.

`dispatcher`, `ranking`, `distributor`, `allocator` and `settling` are pure stages and import none
of the others. `admission`, `seeds`, `hosts`, `backlog` and `ordering` connect them to the store.
`gate/` recognises other names of one page and holds traps back. `switchboard` carries the messages
to and from the clients.
"""
