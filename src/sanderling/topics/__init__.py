"""Makes the model of a topic from examples, and judges how well pages and links fit the topic."""
