"""Merges several names of one page, recognises traps, and holds URLs back until similar URLs bring
something new."""
