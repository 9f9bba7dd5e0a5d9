"""Receives IndexNow messages and WebSub notifications, which are sent without signing in.

Anybody who knows the address can send these requests. So each is checked against something that
only the site has: a key file on its host, or a secret that only the hub was given. An accepted
request becomes a message to the crawls that know the host. It never leads to a visit of another
host.
"""
