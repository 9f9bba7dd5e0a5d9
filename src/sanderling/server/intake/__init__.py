"""What becomes of a report: settled, compared, and committed once."""
