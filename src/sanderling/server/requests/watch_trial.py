"""What a watch finds on its page now: one visit, as a crawl makes it, of which nothing is kept."""

import msgspec

from sanderling.change.judging import chooser
from sanderling.change.rules import matched
from sanderling.errors import RunFailed
from sanderling.model import Stored
from sanderling.processes.scratch import scratch
from sanderling.repository import warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder
from sanderling.server.loop import CrawlServer
from sanderling.settings import Settings, rule_of
from sanderling.watches import Watch

LONGEST = 120.0


def found_now(watch: Watch, settings: Settings) -> list[str]:
    """The texts that a watch would compare, visited with these settings: those of its folder."""
    one = msgspec.structs.replace(
        settings, max_depth=0, sitemaps=False, index=False, clients=1, retries=0, host_patience=0.0, max_time=LONGEST,
        max_pages=None, max_bytes=None, order="breadth-first", topic=None, collection=None, store=None, cluster=None,
        screenshots=False, states=0, extractors=(), webhook=(), notify=(), rules=(),
        watch=(msgspec.structs.replace(watch, notify=()),),
    )  # fmt: skip
    with scratch("watch") as place:
        folder = Folder(place / "trial")
        server = CrawlServer(folder, one, [watch.url], 1)
        try:
            server.run(lambda _: None, lambda: False)
            page = next((each for each in server.store.pages() if each.url == watch.url), None)
            why = next((why for _, why in server.sample_failures()), "no answer came")
        finally:
            server.close()
        if page is not None and page.redirect:
            raise RunFailed(f"{watch.url} leads to {page.redirect} now: watch that page")
        if page is None or page.warc is None or not 200 <= page.status < 300:
            raise RunFailed(f"{watch.url} cannot be read now: {why}")
        document = document_in(warc.read(folder.warcs, Stored(page.warc, page.offset, page.length)))
    if document is None:
        raise RunFailed(f"{watch.url} is a file without text: only that it is another one can be told")
    rules = chooser([rule_of(watch)])(watch.url)
    return matched(document, rules) if rules else []
