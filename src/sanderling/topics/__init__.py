"""What a crawl is about: a model of a topic, made from examples, and how well pages and links fit
it."""
