"""What sites and hubs may tell this server without signing in: IndexNow messages, and WebSub
notifications.

Whoever knows the address can send these requests. So each is checked against something that only
the site has: a key file on its host, or a secret that only the hub was given. What passes becomes a
message to the crawls that know the host. It never leads to a visit of another host.
"""
