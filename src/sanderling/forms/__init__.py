"""Decides which forms may be sent, what to fill in, and what their answers say. All functions are
pure."""
