"""Reports changes to people and programs, as an Atom feed, a digest, a notification or a webhook.

A filter selects the versions that are worth reporting (`selection`). `atom`, `digest` and
`notification` render them, `webhook` makes the body of a delivery. `receivers` are the webhooks and
addresses of a crawl; `post` and `service` send to them, and `delivery` repeats this until they
accept. For each receiver a `record` says how far its deliveries are.
"""
