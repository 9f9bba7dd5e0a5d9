"""Simulates revisit policies on pages whose changes are known, from real histories and from
synthetic ones."""
