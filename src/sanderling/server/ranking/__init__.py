"""Which unvisited URL comes first: what an order scores, and how new ranks come into the queue."""
