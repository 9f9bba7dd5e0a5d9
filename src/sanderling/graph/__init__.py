"""The link graph as arrays of positions, 4 bytes for each link.

Ranking, importance and exports all use a `Graph`. It is built from the store when it is needed, and
never stored. While a crawl runs, a process of its own builds it.
"""

from sanderling.graph.authority import authority
from sanderling.graph.packed import Graph, Places, pack
from sanderling.graph.pagerank import pagerank

__all__ = ["Graph", "Places", "authority", "pack", "pagerank"]
