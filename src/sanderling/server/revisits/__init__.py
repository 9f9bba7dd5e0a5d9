"""A refresh: its budget, its plan, and what each visit to a known page teaches."""
