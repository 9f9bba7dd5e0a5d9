"""What to do with forms: which may be sent, what to fill in, and what the answers say. Pure
functions of what is known."""
