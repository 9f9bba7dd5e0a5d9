"""`sanderling browser`: which browser renders pages, how well it is isolated, and how to get
one."""

import argparse
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.errors import RunFailed
from sanderling.presenting.screen import say

if TYPE_CHECKING:
    from sanderling.browser.process import Protection

_OFF = "off: this system forbids {}; without --no-browser-sandbox nothing is rendered"
_ABOUT = """Shows or installs the browser that renders pages made by JavaScript.

  sanderling browser status    which browser is used, and how it is isolated
  sanderling browser install   install a headless Chromium if there is none
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("browser", description=_ABOUT)
    parser.add_argument("action", choices=["status", "install"], help="what to do")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    return _status() if options.action == "status" else _install()


def _status() -> int:
    from sanderling.browser.finding import find, version_of

    program = find(None)
    if program is None:
        raise RunFailed("there is no browser: run `sanderling browser install`")
    protection = _tried(program)
    rows = [
        ("browser", str(program)),
        ("version", version_of(program) or "unknown"),
        ("sandbox", "on" if protection.sandbox else _OFF.format("it (it needs user namespaces)")),
        (
            "network",
            "none: it runs in an empty network namespace"
            if protection.network
            else _OFF.format("network namespaces; flags and interception keep it away"),
        ),
    ]
    sys.stdout.write("".join(f"{name:10}{value}\n" for name, value in rows))
    return 0


def _tried(program: Path) -> "Protection":
    """Starts the browser as a crawl does, and looks at how it runs."""
    from sanderling.browser.promises import Timers, run
    from sanderling.browser.starting import CannotStart, start
    from sanderling.client.loop import Loop

    with closing(Loop()) as loop:
        started = run(start(program, loop, Timers(loop), "Sanderling", lambda: None, unprotected=True))
        while not started.done:
            loop.wait(0.5)
        try:
            browser = started.result()
        except CannotStart as error:
            raise RunFailed(str(error)) from None
        with closing(browser):
            return browser.protection


def _install() -> int:
    from sanderling.browser.finding import find

    if (program := find(None)) is not None:
        sys.stdout.write(f"{program} is there; nothing to install\n")
        return 0
    if shutil.which("apt-get") and os.geteuid() == 0:
        steps = [
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"],
        ]
        fallback = [*steps[1][:-1], "chromium"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in (*steps, fallback):
            if find(None) is None:
                say(" ".join(step))
                subprocess.run(step, env=environment, stdout=subprocess.DEVNULL, check=False)
    elif shutil.which("npx"):
        command = ["npx", "--yes", "playwright", "install", "chromium-headless-shell"]
        say(" ".join(command))
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if (program := find(None)) is None:
        raise RunFailed(
            "no browser could be installed: install Chromium with your system's packages (on Debian as root: "
            "`apt-get install chromium-headless-shell`) or with `npx playwright install chromium-headless-shell`"
        )
    sys.stdout.write(f"installed {program}\n")
    return 0
