"""Random faults against whole crawls, for as long as you like: `python -m tests.torture --minutes
60`.

Every round makes a synthetic web, crawls it, lets it change, visits it again and damages its
archive. Meanwhile processes are killed and stopped, the web server and the database go away, the
disk fills up and the clock jumps. After each step everything stored is compared with the truth of
the web.

`faults` are the things that happen, `commands` runs the crawler through them, `truth` is the check,
and `rounds` puts them together.
"""
