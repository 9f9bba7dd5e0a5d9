"""`sanderling mcp`: crawls as tools for language models."""

import argparse
import sys

from sanderling.agents.toolbox import Toolbox
from sanderling.cli.serve import SHORTEST_TOKEN, token_of
from sanderling.errors import UsageError
from sanderling.presenting.arguments import count, pathname, port
from sanderling.presenting.screen import say

_ABOUT = """Lets language models search crawls, read pages as Markdown, and see what changed, over the Model Context Protocol.

DIR is a crawl folder, or a directory that contains crawl folders. Agents see these folders and no others. They only
read, unless --fetch lets them fetch single pages by the manners of a crawl. Without --http the server speaks over
standard input and output, as programs expect that start it. It needs `pip install 'sanderling[mcp]'`.

Examples:
  sanderling mcp example               to name in the settings of the program
  sanderling mcp crawls --fetch 20     agents may fetch 20 pages an hour
  sanderling mcp crawls --http 8090 --token
                                       at http://127.0.0.1:8090/mcp
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "mcp",
        description=_ABOUT,
    )  # fmt: skip
    parser.add_argument("dir", nargs="+", type=pathname, help="crawl folders, or directories of crawl folders")
    parser.add_argument(
        "--fetch", type=count, default=0, metavar="N", help="pages an hour that agents may fetch (default: 0)"
    )
    parser.add_argument("--allow-private", action="store_true", help="let them fetch from private addresses, too")
    parser.add_argument(
        "--http", type=port, metavar="PORT", help="serve streamable HTTP on this port (0: any free one)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--token", nargs="?", const="", metavar="TOKEN",
        help="the token that HTTP requires; without a value, a random token is created",
    )  # fmt: skip
    parser.add_argument("--token-file", type=pathname, metavar="FILE", help="a file with the token in its first line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        from sanderling.agents.server import create_server
    except ImportError as error:
        raise UsageError(f"agents need `pip install 'sanderling[mcp]'` ({error})") from None
    server = create_server(Toolbox(options.dir, options.fetch, options.allow_private))
    if options.http is None:
        server.run("stdio")
        return 0
    return _serve(server.streamable_http_app(host=options.host), options)


def _serve(app: object, options: argparse.Namespace) -> int:
    import uvicorn

    from sanderling.agents.server import with_token
    from sanderling.web.http_server import listening
    from sanderling.web.security import Security

    token = token_of(options)
    if len(token) < SHORTEST_TOKEN:
        raise UsageError("HTTP needs a token: add --token without a value to create one, or --token-file")
    socket = listening(options.host, options.http)
    port = socket.getsockname()[1]
    knows = Security(port=port, token=token).knows_token
    say(f"agents at http://{options.host}:{port}/mcp (Ctrl-C ends it)")
    if options.token == "":
        sys.stdout.write(f"token: {token}\n")
        sys.stdout.flush()
    guarded = with_token(app, knows)  # type: ignore[arg-type]
    uvicorn.Server(uvicorn.Config(guarded, log_level="warning", access_log=False)).run(sockets=[socket])
    return 0
