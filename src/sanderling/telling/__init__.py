"""Reports changes to people and programs, as an Atom feed, a digest or a webhook.

A filter selects the versions that are worth reporting (`selection`). `atom` and `digest` render
them. `webhook` makes the body of a delivery, `post` sends it, and `delivery` repeats this until the
endpoint accepts. For each webhook a `record` says how far its deliveries are.
"""
