"""Benchmarks: Sanderling and other crawlers on the same real web, on this machine.

`web` serves about 14,500 real documentation pages with nginx on loopback. `truth` computes from the
files which URLs a crawler must find there. `peers` are the other crawlers. `measure` measures a
whole process tree, and `race` compares all crawlers in one table. No request leaves the machine,
except to install missing packages.
"""
