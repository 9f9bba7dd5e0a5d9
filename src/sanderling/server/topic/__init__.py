"""A focused crawl: its topic, the examples behind it, and how much of it was harvested."""
