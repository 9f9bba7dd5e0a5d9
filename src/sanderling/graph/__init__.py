"""The link graph as arrays: positions instead of identities, 4 bytes a link.

A shared value like those of `model`, not a room: whoever ranks, weighs or exports pages works on a `Graph`, and it
imports no room. It is built when it is wanted, in a process of its own when a crawl runs, and never kept.
"""

from sanderling.graph.packed import Graph, Places, pack
from sanderling.graph.pagerank import pagerank

__all__ = ["Graph", "Places", "pack", "pagerank"]
