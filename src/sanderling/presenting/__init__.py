"""How versions, diffs, plots and moments are shown; used by the command line and the web pages alike."""
