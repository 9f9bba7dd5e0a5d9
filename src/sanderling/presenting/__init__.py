"""Formats versions, diffs, plots and times for people. The command line and the web pages share
it."""
