"""`/metrics`: every crawl in the text format of Prometheus."""

import contextlib
from collections.abc import Iterator

from fastapi import APIRouter, Response

from sanderling.crawling import remote
from sanderling.errors import RunFailed, SanderlingError
from sanderling.model import Counts, Live
from sanderling.repository.folder import in_use
from sanderling.web.api.crawls import counted
from sanderling.web.api.inputs import ShelfDep

router = APIRouter(include_in_schema=False)

_STATES = ("queued", "leased", "fetched", "failed", "gone", "excluded", "held")
_TOTALS = {
    "known": "URLs that were found", "pages": "pages that were stored", "versions": "versions that were stored",
    "bytes": "bytes that were downloaded", "visits": "answered visits", "changed": "visits that found a change",
    "not_modified": "visits answered with 304", "same": "visits that received the same bytes", "retried": "retries",
}  # fmt: skip

# (name, type, help, labels and value)
Sample = tuple[str, str, str, dict[str, str], float]


@router.get("/metrics")
def metrics(shelf: ShelfDep) -> Response:
    samples: list[Sample] = []
    for id, folder in shelf.folders().items():
        live: Live | None = None
        running = in_use(folder)
        with contextlib.suppress(SanderlingError):
            if running:
                with contextlib.suppress(remote.NotRunning, RunFailed):
                    live = remote.look(folder.path, patience=1.0)
            if live is None:
                with shelf.opened(folder) as store:
                    counts = store.counts()
            else:
                counts = live.counts
            samples += _samples(id, counted(counts, running), running, live)
    return Response(_text(samples), media_type="text/plain; version=0.0.4; charset=utf-8")


def _samples(crawl: str, counts: Counts, running: bool, live: Live | None) -> Iterator[Sample]:
    of = {"crawl": crawl}
    yield "sanderling_running", "gauge", "whether the crawl is running", of, float(running)
    for state in _STATES:
        yield "sanderling_urls", "gauge", "URLs by state", {**of, "state": state}, getattr(counts, state)
    for name, help in _TOTALS.items():
        yield f"sanderling_{name}_total", "counter", help, of, getattr(counts, name)
    if live is not None:
        yield "sanderling_paused", "gauge", "whether the crawl is paused", of, float(live.paused)
        yield "sanderling_clients", "gauge", "client processes", of, len(live.clients)
        for machine in live.machines:
            here = {**of, "machine": machine.name, "level": str(machine.level)}
            yield "sanderling_machine_clients", "gauge", "clients on a machine of the cluster", here, machine.clients
            yield "sanderling_machine_held", "gauge", "URLs that a machine holds", here, machine.holds
            yield "sanderling_machine_sent_bytes_total", "counter", "archives sent by a machine", here, machine.sent
            yield "sanderling_machine_up_bytes_total", "counter", "all that a machine sent", here, machine.up
            yield "sanderling_machine_down_bytes_total", "counter", "all that was sent to a machine", here, machine.down
        yield "sanderling_clients_replaced_total", "counter", "client processes that died", of, live.replaced
        yield "sanderling_lookup_seconds_total", "counter", "waits for addresses of names", of, live.looked_up
        yield "sanderling_fetch_seconds_total", "counter", "time of all requests together", of, live.fetched
        yield "sanderling_hosts", "gauge", "hosts with waiting URLs", of, live.hosts
        yield "sanderling_pages_per_second", "gauge", "over the last ten seconds", of, live.pages_per_second
        for number, length in enumerate(live.lists or (), 1):
            yield "sanderling_list_length", "gauge", "the three lists", {**of, "list": str(number)}, length


def _text(samples: list[Sample]) -> str:
    lines: dict[str, list[str]] = {}
    for name, kind, help, labels, value in samples:
        family = lines.setdefault(name, [f"# HELP {name} {help}", f"# TYPE {name} {kind}"])
        named = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        family.append(f"{name}{{{named}}} {value:.15g}")
    return "".join(line + "\n" for family in lines.values() for line in family)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
