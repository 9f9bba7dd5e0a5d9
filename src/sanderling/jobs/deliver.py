"""`python -m sanderling.jobs.deliver DIR`: the process that tells webhooks beside a crawl.

Not a command for people: the server starts it, writes the settings to its standard input and reads
messages from its standard output. It delivers until its input ends, and then what is left.
"""

import sys
from pathlib import Path

from sanderling.errors import FolderInUse, SanderlingError
from sanderling.jobs import companion
from sanderling.repository.folder import Folder
from sanderling.telling.delivery import deliver_all, sole_messenger

LOCK_PAUSE = 1.0


def main(arguments: list[str]) -> int:
    folder = Folder(Path(arguments[0]))
    settings, ended = companion.begin()
    while True:
        try:
            with sole_messenger(folder):
                deliver_all(folder, settings, ended, _say)
                ended.wait()
                return 0
        except FolderInUse:
            if ended.wait(LOCK_PAUSE):
                return 0
        except SanderlingError as error:
            _say(str(error))
            return 1


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
