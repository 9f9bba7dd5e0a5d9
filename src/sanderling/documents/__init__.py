"""From bytes to text, links and facts: HTML, PDF, Office, sitemaps, feeds. Used by clients and by
readers of the archive."""
