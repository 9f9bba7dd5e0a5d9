"""What passes the gate: one page with several names, traps, and what is held back until like URLs
bring something new."""
