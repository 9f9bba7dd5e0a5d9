"""`python -m bench`: the command line of the bench."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from bench import (
    alarms,
    application_text,
    article_set,
    beside,
    change,
    cluster,
    dashboard,
    documents,
    extraction,
    extraction_set,
    growth,
    held_set,
    journey,
    notices,
    package_history,
    parsers,
    race,
    reader,
    render,
    replay,
    revisit,
    search,
    semantic,
    service,
    slow_hosts,
    store,
    topic,
    truth,
    web,
)
from bench.field import serving as field_serving
from bench.field import trial
from bench.places import CACHE, BenchError, working_folder

EPILOG = """\
examples:
  python -m bench                          the whole race, once: about ten minutes, nearly all the peers'
  python -m bench race --quick             Scrapy and Crawlee stop after 2,000 pages
  python -m bench race --rounds 5 --only sanderling wget2
  python -m bench web --port 8099          serve the same pages, to try things by hand
  python -m bench truth                    how many pages there are to find
  python -m bench truth DIR --port 8099    did the crawl in DIR find exactly these?
  python -m bench slow-hosts               1,000 slow hosts at once, one client
  python -m bench revisit                  an unchanged site visited again
  python -m bench change                   change detection beside other ways to compare two pages
  python -m bench alarms                   false alarms on noisy pages, beside webchanges and changedetection.io
  python -m bench package-history scrapy docs/ -o scrapy.csv.gz   for `sanderling lab freshness --history`
  python -m bench growth                   how much a watched page takes in a year
  python -m bench service                  the memory of a service with 20 watched pages
  python -m bench reader                   both readers of HTML on the pages of the race: the same, and how fast
  python -m bench reader FOLDER --mutate 20 --fuzz 3600   on other pages, each in 20 other forms; with libFuzzer
  python -m bench documents                reading office documents in the child process
  python -m bench parsers FOLDER ...       what the two parsers of HTML make of 10,000 pages
  python -m bench dashboard                every page of the dashboard and the API on a million URLs
  python -m bench search                   the search index with 100,000 pages, without any network
  python -m bench beside                   does keeping the index up slow a crawl down?
  python -m bench notices                  what 10,000 notices cost the server, and how fast a change is seen
  python -m bench render                   pages that JavaScript makes, with a browser
  python -m bench application-text         how much of an application from npm is found, against its Markdown files
  python -m bench field                    applications that nobody here wrote, from Debian, PyPI and npm
  python -m bench field --serve dokuwiki --port 8100   one of them, to try things by hand
  python -m bench extraction --build       main content beside other extractors, on pages built from packages
  python -m bench extraction --articles    and on real articles
  python -m bench extraction --held-out    and on pages that it was not written with
  python -m bench cluster                  the same crawl over the Unix socket and through Ray
  python -m bench topic                    what a topic costs a client, the server and a whole crawl
  python -m bench replay                   live pages beside their archived copies, compared by pixels
  python -m bench journey                  the way of one page through the code, traced
  python -m bench store                    the stores with a million URLs, without any network

Pages are counted the same way for all: HTML answers of status 200. CPU seconds are those of the whole
process tree, user and system; memory is the peak of the tree's proportional set size. On a busy machine
even CPU seconds vary: take several rounds and mind the column "disturbed", the share of
the machine that others used meanwhile. Ratios compare laps of one round, (best/best) the best laps of each.
Early pages of the walk are larger than later ones, so --quick is a little unkind to those it stops early:
quote full runs.
"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m bench",
        description="Race Sanderling against other crawlers on 14,500 real pages served on this machine.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(metavar="COMMAND")
    racing = commands.add_parser("race", help="Sanderling and its peers in one table (the default)")
    racing.add_argument("--rounds", type=int, default=1, help="laps of each, taken in turns; medians are shown")
    racing.add_argument(
        "--quick", type=int, nargs="?", const=2000, default=0, metavar="PAGES", help="stop slow peers there (2000)"
    )
    racing.add_argument("--only", nargs="+", default=[], metavar="NAME", help="sanderling, scrapy, crawlee, wget2")
    racing.add_argument("--on", default=working_folder(), metavar="DIR", help="where crawls are written (memory)")
    racing.set_defaults(run=lambda chosen: race.race(chosen.rounds, chosen.quick, chosen.only, chosen.on))
    checking = commands.add_parser("truth", help="count the true pages, or check a crawl against them")
    checking.add_argument("directory", nargs="?", metavar="DIR", help="folder of a finished crawl of the bench's web")
    checking.add_argument("--port", type=int, default=8099, help="port the web had when it was crawled (8099)")
    checking.set_defaults(run=lambda chosen: truth.report(chosen.directory, chosen.port))
    hearing = commands.add_parser("notices", help="what notices cost, and how fast a change of a site is seen")
    hearing.add_argument("--changes", type=int, default=20, help="files that change, one after the other (20)")
    hearing.set_defaults(run=lambda chosen: notices.report(chosen.changes))
    focused = commands.add_parser("topic", help="what a topic costs a client, the server and a whole crawl")
    focused.add_argument("--pages", type=int, default=1500, help="pages of the crawls (1500)")
    focused.add_argument("--rounds", type=int, default=3, help="crawls of each kind, taken in turns (3)")
    focused.set_defaults(run=lambda chosen: topic.report(chosen.pages, chosen.rounds))
    machines = commands.add_parser("cluster", help="the same crawl over the Unix socket and through Ray")
    machines.add_argument("--pages", type=int, default=5000, help="how many (5000)")
    machines.add_argument("--rounds", type=int, default=3, help="laps of each, taken in turns (3)")
    machines.add_argument("--parts", default="cost,bytes,scale,memory", help="which figures (default: %(default)s)")
    machines.set_defaults(run=lambda chosen: cluster.measure(chosen.pages, chosen.rounds, chosen.parts))
    slow = commands.add_parser("slow-hosts", help="many slow hosts at once, one client")
    slow.add_argument("--hosts", type=int, default=1000, help="how many (1000)")
    slow.add_argument("--pages", type=int, default=5, help="pages on each (5)")
    slow.add_argument("--latency", type=float, default=0.3, help="seconds a host takes to answer (0.3)")
    slow.add_argument("flags", nargs="*", help="further flags of sanderling crawl, after -- (--delay 0)")
    slow.set_defaults(
        run=lambda chosen: slow_hosts.slow_hosts(
            chosen.hosts, chosen.pages, chosen.latency, chosen.flags or ["--delay", "0"]
        )
    )
    for name, module, about in (
        ("render", render, "what rendering a page costs, beside other ways to do it"),
        ("store", store, "what the stores cost with a million URLs"),
        ("dashboard", dashboard, "how long pages of the dashboard take on a million URLs"),
        ("search", search, "what indexing a page and a search cost"),
        ("beside", beside, "what keeping the index up costs a crawl"),
        ("change", change, "change detection beside other ways to compare pages"),
        ("package-history", package_history, "when the pages of a package's documentation changed"),
    ):
        command = commands.add_parser(name, help=about)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    office = commands.add_parser("documents", help="what reading an office document costs")
    office.add_argument("--times", type=int, default=200, help="how often each is read (200)")
    office.set_defaults(run=lambda chosen: documents.report(chosen.times))
    native = commands.add_parser("reader", help="the native reader beside the tree: the same result, and how fast")
    native.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="where HTML files are (the race's)")
    native.add_argument("--count", type=int, default=2000, help="of them, by chance (2,000)")
    native.add_argument("--mutate", type=int, default=0, metavar="N", help="compare N mutations of each as well (0)")
    native.add_argument("--fuzz", type=int, default=0, metavar="SECONDS", help="run libFuzzer with sanitizers (clang)")
    native.set_defaults(run=lambda chosen: reader.report(chosen.folders, chosen.count, chosen.mutate, chosen.fuzz))
    both = commands.add_parser("parsers", help="links, text and title of pages by both parsers of HTML")
    both.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="where HTML files are")
    both.add_argument("--count", type=int, default=10_000, help="of them, by chance (10,000)")
    both.add_argument("--seed", type=int, default=1, help="of that chance (1)")
    both.add_argument("--cases", type=Path, metavar="FOLDER", help="html5lib's tree-construction cases")
    both.set_defaults(run=lambda chosen: parsers.report(chosen.folders, chosen.count, chosen.seed, chosen.cases))
    looks = commands.add_parser("replay", help="live pages beside their archived copies, compared by pixels")
    looks.add_argument(
        "names", nargs="*", metavar="NAME", help="mkdocs-material, sphinx, vitepress, material-ui, '55 files' (all)"
    )
    looks.add_argument("--pictures", type=Path, metavar="FOLDER", help="keep the pictures there")
    looks.set_defaults(run=lambda chosen: replay.report(chosen.names, chosen.pictures))
    way = commands.add_parser("journey", help="the way of one page through the code, traced")
    way.set_defaults(run=lambda _: journey.report())
    text = commands.add_parser("application-text", help="how much of the text of a real application is found")
    text.set_defaults(run=lambda _: application_text.report())
    strange = commands.add_parser("field", help="real applications: found, waste, false changes, hidden pages")
    strange.add_argument("names", nargs="*", metavar="NAME", help="which ones (all)")
    strange.add_argument("--no-scrapy", action="store_true", help="leave the crawl with Scrapy out")
    strange.add_argument("--minutes", type=int, default=3, help="of each crawl at most (3)")
    strange.add_argument("--serve", metavar="NAME", help="only serve this one, until interrupted")
    strange.add_argument("--port", type=int, default=0, help="with --serve: where (a free port)")
    strange.add_argument(
        "--hidden", action="store_true", help="only what forms reach; with --serve, serve those pages, too"
    )
    strange.set_defaults(
        run=lambda chosen: (
            field_serving.serve(chosen.serve, chosen.port, chosen.hidden)
            if chosen.serve
            else trial.hidden(chosen.names, chosen.minutes)
            if chosen.hidden
            else trial.run(chosen.names, chosen.no_scrapy, chosen.minutes)
        )
    )
    noisy = commands.add_parser("alarms", help="false alarms on noisy pages, beside other watchers")
    noisy.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="sanderling, webchanges, changedetection.io"
    )
    noisy.set_defaults(run=lambda chosen: alarms.report(chosen.only))
    year = commands.add_parser("growth", help="how much a watched page takes in a year")
    year.add_argument("--days", type=int, default=365)
    year.set_defaults(run=lambda chosen: growth.report(chosen.days))
    serving = commands.add_parser("service", help="the memory of a service with 20 watched pages")
    serving.add_argument("--seconds", type=float, default=150.0)
    serving.set_defaults(run=lambda chosen: service.report(chosen.seconds))
    again = commands.add_parser("revisit", help="an unchanged site visited again")
    again.add_argument("--on", default=working_folder(), metavar="DIR", help="where the crawl is written (memory)")
    again.set_defaults(run=lambda chosen: revisit.revisit(chosen.on))
    serving = commands.add_parser("web", help="serve the pages until interrupted")
    serving.add_argument("--port", type=int, default=0, help="default: a free one")
    serving.set_defaults(run=lambda chosen: serve(chosen.port))
    extracting = commands.add_parser("extraction", help="the main content of pages, beside other extractors")
    extracting.add_argument("--set", type=Path, metavar="FOLDER", help="the pages")
    extracting.add_argument("--build", action="store_true", help="make our own set there, from packages")
    extracting.add_argument("--articles", action="store_true", help="real articles, from the tests of other extractors")
    extracting.add_argument("--held-out", action="store_true", help="others, which were not used to write it")
    extracting.add_argument("--kind", nargs="+", default=[], metavar="KIND", help="only pages of this kind: docs, blog")
    extracting.add_argument("--alone", action="store_true", help="without the other extractors")
    extracting.set_defaults(run=_extraction)
    meaning = commands.add_parser("semantic", help="search by words and by meaning, on questions with known answers")
    meaning.add_argument("--pages", type=int, default=20_000, metavar="N")
    meaning.add_argument("--questions", type=int, default=500, metavar="N")
    meaning.set_defaults(run=lambda chosen: semantic.report(chosen.pages, chosen.questions))
    return top


def _extraction(chosen: argparse.Namespace) -> int:
    kind = "articles" if chosen.articles else "held-out" if chosen.held_out else "set"
    folder = chosen.set or CACHE / "extraction" / kind
    if chosen.build:
        extraction_set.build(folder)
    elif chosen.articles:
        article_set.build(folder)
    elif chosen.held_out:
        article_set.write(folder, held_set.articles())
    return extraction.report(folder, chosen.kind, not chosen.alone)


def main() -> int:
    arguments = sys.argv[1:]
    # Without a command, the options belong to the race.
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["race", *arguments]
    chosen = parser().parse_args(arguments)
    # Exits normally, so that nginx ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return int(chosen.run(chosen))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def serve(port: int) -> int:
    with web.serve(port) as site:
        print(site.url, flush=True)
        while True:
            time.sleep(3600)


sys.exit(main())
