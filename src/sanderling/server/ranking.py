"""Step 3 of a page's life: how much an unvisited URL is worth, from what is known about it."""


def breadth_first(depth: int) -> float:
    """Nearer to the seeds first."""
    return -float(depth)
