"""What others ask of a running crawl: status, control, visits, and hints that pages changed."""
