"""Runs clients on other machines of a Ray cluster, and brings what they fetched to the folder of
the crawl.

On each machine an actor (`machine`) runs unmodified client processes. They write to a local spool,
and the actor sends their messages, with the bytes that a report names before the report, to the
server. There `switchboard` is the server's side of all machines, `landing` writes the bytes into
the folder, `crew` decides where clients run, and `engine` is the only file that speaks with Ray.
"""
