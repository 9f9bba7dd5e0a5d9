"""An HTTP server that misbehaves. Each module has one group of faults; each fault is a function
with a URL."""
