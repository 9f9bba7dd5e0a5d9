"""A misbehaving HTTP server: each module is a family of faults, and each fault is a function with a name."""
