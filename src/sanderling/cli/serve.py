"""`sanderling serve`: the dashboard and the HTTP API."""

import argparse
import os
import secrets
import sys
from pathlib import Path

from sanderling.errors import UsageError
from sanderling.presenting.arguments import pathname, port
from sanderling.presenting.screen import many
from sanderling.urls import canonical

_ABOUT = """Shows crawls in the browser and answers programs at /api/v1. By default it listens on this machine only.

DIR is a crawl folder, or a directory that contains crawl folders. New crawls are created in such a directory. On any
address other than loopback the server requires a token or a password. Put a reverse proxy with TLS in front of it.

A token on the command line is visible to everyone on the machine. It can also be in a file (--token-file) or in the
environment variable SANDERLING_TOKEN, and a password in SANDERLING_PASSWORD.

Examples:
  sanderling serve example
  sanderling serve crawls --port 9000
  sanderling serve crawls --keep-fresh  also runs all watches and refreshes
  sanderling serve crawls --host 0.0.0.0 --password-file secret.txt
"""

# Guesses at a token are not slowed down, since programs send it with every request.
SHORTEST_TOKEN = 16
# Where the secrets may be instead of on the command line.
TOKEN_VARIABLE, PASSWORD_VARIABLE = "SANDERLING_TOKEN", "SANDERLING_PASSWORD"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve", description=_ABOUT,
    )  # fmt: skip
    parser.add_argument("dir", nargs="+", type=pathname, help="crawl folders, or directories of crawl folders")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=port, default=8080, help="the port (default: 8080; 0: any free port)")
    parser.add_argument(
        "--archive-port", type=port, metavar="PORT", help="the port for archived pages (default: the next port)"
    )
    parser.add_argument(
        "--token",
        nargs="?",
        const="",
        metavar="TOKEN",
        help="require this token; without a value, a random token is created",
    )
    parser.add_argument("--token-file", type=pathname, metavar="FILE", help="a file with the token in its first line")
    parser.add_argument(
        "--password-file", type=pathname, metavar="FILE", help="a file with the password or its argon2 hash"
    )
    parser.add_argument(
        "--name", action="append", default=[], help="another host name that the server answers to (repeatable)"
    )
    parser.add_argument("--indexnow", action="store_true", help="let sites name their changed pages at /indexnow")
    parser.add_argument(
        "--public-url", default="", metavar="URL",
        help="where the world reaches this server; with it, feeds that name a WebSub hub are subscribed to",
    )  # fmt: skip
    parser.add_argument("--allow-private", action="store_true", help="allow new crawls to start at private addresses")
    parser.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="run crawls on a cluster: auto, or HOST:PORT of its head"
    )
    parser.add_argument(
        "--keep-fresh", action="store_true",
        help="visit the watches of all folders, and refresh those with `keep_fresh` in their settings",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="keep crawls running when the server ends")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from sanderling.web import http_server
    from sanderling.web.app import create_app
    from sanderling.web.previews import Previews
    from sanderling.web.sandbox import create_sandbox
    from sanderling.web.security import LOOPBACK_NAMES, Security, is_hash, is_loopback
    from sanderling.web.shelf import Shelf

    token = token_of(options)
    if token and len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"a token of {len(token)} characters can be guessed: use --token without a value to create a random one"
        )
    password = first_line(options.password_file) if options.password_file else taken(PASSWORD_VARIABLE)
    if password.startswith("$argon2") and not is_hash(password):
        where = options.password_file or PASSWORD_VARIABLE
        raise UsageError(f"{where} begins like an argon2 hash but is not valid: nobody could sign in")
    local = is_loopback(options.host)
    if not local and not token and not password:
        raise UsageError(f"everybody who reaches {options.host} could use the server: add --token or --password-file")
    shelf, previews = Shelf(options.dir), Previews()
    socket = http_server.listening(options.host, options.port)
    port: int = socket.getsockname()[1]
    beside = http_server.listening(options.host, port + 1 if options.archive_port is None else options.archive_port)
    security = Security(
        port=port, archive_port=beside.getsockname()[1], token=token, password=password, any_name=not local, allow_private=options.allow_private,
        names=LOOPBACK_NAMES | {name.lower() for name in options.name},
    )  # fmt: skip
    shown = f"[{options.host}]" if ":" in options.host else options.host
    count = len(shelf.folders())

    def say() -> None:
        sys.stdout.write(f"{many(count, 'crawl')} at http://{shown}:{port}/ (Ctrl-C ends it)\n")
        for place in options.dir:
            if not place.exists():
                sys.stdout.write(f"{place} does not exist yet; the first new crawl creates it\n")
        if options.token == "":
            sys.stdout.write(f"token: {token}\n")
        sys.stdout.flush()

    http_server.serve(
        [
            (
                create_app(
                    shelf,
                    security,
                    options.keep,
                    _public(options.public_url),
                    options.cluster,
                    options.indexnow,
                    previews,
                    options.keep_fresh,
                ),
                socket,
            ),
            (create_sandbox(shelf, security, previews), beside),
        ],
        say,
    )
    return 0


def token_of(options: argparse.Namespace) -> str:
    """The token from the command line, a file or the environment. Everyone on the machine sees a
    command line."""
    if options.token is not None and options.token_file:
        raise UsageError("give only one of --token and --token-file")
    if options.token is not None:
        return options.token or secrets.token_urlsafe(24)
    return first_line(options.token_file) if options.token_file else taken(TOKEN_VARIABLE)


def taken(variable: str) -> str:
    """A secret from the environment. It is removed there, so that the crawls that are started do
    not inherit it."""
    return os.environ.pop(variable, "").strip()


def first_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror if isinstance(error, OSError) else 'it is not text'}"
        ) from None
    if not lines or not lines[0].strip():
        raise UsageError(f"the first line of {path} is empty")
    return lines[0].strip()


def _public(text: str) -> str:
    url = canonical(text) if text else ""
    if url is None:
        raise UsageError(f"--public-url {text!r} is not a URL such as https://crawler.example.org/")
    return url
