"""What others ask of a running crawl: status, control, visits, and hints that pages changed.

When a source names pages of a host, a message (`Told` in `model/messages.py`) goes to the running
crawl, which commits it (`change_hints.py`). Three parts send such messages: the process that reads
the reports of sites beside a refresh (`jobs/listen.py`, started by `revisits/report_watch.py`), and
the two parts of `sanderling serve` that receive IndexNow and WebSub (`web/receiving/`). If no crawl
runs, the message waits as a file in the folder (`inbox.py`). The cursor of a report is committed
with the pages it names, and the same message twice changes nothing.

The table `notices` holds when each source last named a page. Every visit checks each source:
whether the pages that it names have changed, and whether those that it does not name have not
(`freshness/sources.py`). The result is stored with the host. Pages that a trusted source names are
visited before all planned visits (`revisits/calls.py`), within the budget. The plan reads them from
the store, so that a crash loses none.
"""
