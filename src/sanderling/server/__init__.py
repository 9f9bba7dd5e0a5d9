"""The server: admits URLs, ranks them, leases them to clients and takes in what comes back.

Each stage is one file and imports no other: `dispatcher`, `ranking`, `distributor`, `allocator`, `settling`.
`switchboard` carries their messages.
"""
