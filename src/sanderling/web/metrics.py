"""`/metrics`: every crawl in the text format of Prometheus."""

import contextlib
from collections.abc import Iterator

from fastapi import APIRouter, Request, Response

from sanderling.errors import RunFailed, SanderlingError
from sanderling.model import Counts, Live
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import Store
from sanderling.server.requests import remote
from sanderling.server.revisits.logbook import past
from sanderling.settings import Settings, load
from sanderling.telling.receivers import receivers
from sanderling.telling.record import read
from sanderling.web.api.crawls import counted
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.keeper import Keeper, Kept

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
def metrics(request: Request, shelf: ShelfDep) -> Response:
    keeper: Keeper | None = request.app.state.keeper
    samples: list[Sample] = list(_turns(keeper.kept())) if keeper is not None else []
    for id, folder in shelf.folders().items():
        live: Live | None = None
        running = in_use(folder)
        with contextlib.suppress(SanderlingError):
            if running:
                with contextlib.suppress(remote.NotRunning, RunFailed):
                    live = remote.look(folder.path, patience=1.0)
            with shelf.opened(folder) as store:
                counts = store.counts() if live is None else live.counts
                samples += _told(id, folder, store)
            samples += _samples(id, counted(counts, running), running, live)
    return Response(_text(samples), media_type="text/plain; version=0.0.4; charset=utf-8")


def _turns(kept: list[Kept]) -> Iterator[Sample]:
    """The turns that `serve --keep-fresh` gives."""
    for each in kept:
        of = {"folder": each.folder.path.name, "lane": each.lane}
        yield "sanderling_turns_total", "counter", "turns of watches and refreshes", of, each.runs
        yield "sanderling_turns_failed", "gauge", "turns in a row that failed", of, each.failures
        yield "sanderling_last_turn_seconds", "gauge", "when the last turn ended", of, each.last_at
        yield "sanderling_next_turn_seconds", "gauge", "when the next turn is due", of, each.next_at


def _told(crawl: str, folder: Folder, store: Store) -> Iterator[Sample]:
    """How fresh a crawl was when that was last estimated, and what receivers have not got yet."""
    if points := past(store):
        yield "sanderling_freshness", "gauge", "as estimated by the last refresh", {"crawl": crawl}, points[-1][1]
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    newest = store.newest_version()
    for number, receiver in enumerate(receivers(folder, settings), 1):
        record = read(folder.webhooks, receiver.key)
        waiting = max(0, newest - record.delivered) if record is not None else 0
        of = {"crawl": crawl, "receiver": f"{number} {receiver.name}"}
        yield "sanderling_versions_to_tell", "gauge", "versions that a receiver has not passed yet", of, waiting


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
