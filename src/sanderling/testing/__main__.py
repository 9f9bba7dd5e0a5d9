"""`python -m sanderling.testing`: a synthetic web for people to crawl."""

import argparse
import math
import signal
import sys

from sanderling.testing.synthetic import SyntheticWeb

EPILOG = """\
The time of the web stays at 0 without --speed. With --speed 86400, each second is a day of changes.
Through the proxy every host has its own name (http://host0.test/, http://host1.test/, ...). Without the
proxy, host N is below /hostN/ (or at / if there is only one).
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    # Blocked before the server's thread starts. Otherwise that thread would receive the signals and
    # end the process.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        web = SyntheticWeb(
            hosts=options.hosts,
            pages=options.pages,
            seed=options.seed,
            links=options.links,
            size=options.size,
            latency=options.latency,
            change_rate=options.change_rate,
            appear=options.appear,
            vanish=options.vanish,
            skew=options.skew,
            topics=options.topics,
            locality=options.locality,
        )
        if not 0 <= options.speed < math.inf:
            raise ValueError("speed cannot be negative or infinite")
        site = web.serve(
            port=options.port,
            address=options.address,
            robots=options.robots,
            speed=options.speed,
            application=options.application,
        )
        with site:
            sys.stdout.write(
                f"{web.pages} pages on {web.hosts} host(s) at {site.url}\n"
                f"  sanderling crawl {site.url} -d crawl --allow-private\n"
                f"  sanderling crawl {site.seeds[0]} -d crawl --scope any --proxy {site.proxy}\n"
                "Stop with Ctrl-C.\n"
            )
            sys.stdout.flush()
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
            sys.stdout.write(f"\nServed {site.requests.total()} page requests.\n")
    except (ValueError, OSError, OverflowError) as error:
        sys.stderr.write(f"sanderling.testing: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sanderling.testing",
        description="Serve a deterministic synthetic web whose pages change, appear and vanish on schedule.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--hosts", type=int, default=1, metavar="N", help="number of hosts (default 1)")
    add("--pages", type=int, default=100, metavar="N", help="pages on all hosts together (default 100)")
    add("--seed", type=int, default=0, metavar="N", help="each number gives another web (default 0)")
    add("--links", type=int, default=8, metavar="N", help="links on a page (default 8)")
    add("--size", type=int, default=2000, metavar="BYTES", help="mean size of a page's text (default 2000)")
    add("--latency", type=float, default=0.0, metavar="S", help="seconds before each answer (default 0)")
    add(
        "--change-rate",
        type=float,
        default=0.1,
        metavar="X",
        help="mean changes of a page a day (default 0.1)",
    )
    add(
        "--appear",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="pages that appear within 30 days (default 0.1)",
    )
    add(
        "--vanish",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="leaf pages that vanish in that time (default 0.1)",
    )
    add(
        "--skew",
        type=float,
        default=0.6,
        metavar="X",
        help="0: links lead to all pages alike, near 1: to a few pages (default 0.6)",
    )
    add("--topics", type=int, default=0, metavar="N", help="topics that the pages are about (default 0)")
    add(
        "--locality",
        type=float,
        default=0.8,
        metavar="SHARE",
        help="links that stay on the topic of their page (default 0.8)",
    )
    add("--speed", type=float, default=0.0, metavar="X", help="simulated seconds in each second (default 0)")
    add("--application", action="store_true", help="serve it as a single-page application, made by a script")
    add("--robots", default="", metavar="TEXT", help="text of robots.txt (default: empty, all is allowed)")
    add("--port", type=int, default=0, metavar="N", help="port to listen on (default: any free one)")
    add("--address", default="127.0.0.1", metavar="IP", help="address to listen on (default 127.0.0.1)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
