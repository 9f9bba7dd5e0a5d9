"""Races and stress runs: Sanderling beside other crawlers, over one real web on this machine.

`web` serves some 14,500 real documentation pages with nginx on loopback, `truth` works out from the files
alone which URLs a crawler must find there, `peers` are the other crawlers, `measure` weighs a whole process
tree, and `race` puts them in one table. No request leaves the machine, except those that install what is
missing.
"""
