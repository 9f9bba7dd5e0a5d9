"""A server as a user starts it."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.ready import BesideTest
from tests.waiting import PATIENCE


class Served:
    """A running `sanderling serve`."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, said: str) -> None:
        self.process, self.url, self.said = process, url, said
        self.http = httpx.Client(base_url=url, timeout=PATIENCE)

    def stop(self) -> str:
        """Ends it as Ctrl-C does. Returns its standard error."""
        self.http.close()
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        return errors


@contextmanager
def running(*arguments: object) -> Iterator[Served]:
    ports = ("--port", "0", "--archive-port", "0")
    process = BesideTest("serve", *arguments, *ports, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://[^/ ]+", said)
        assert found, said + process.communicate(timeout=PATIENCE)[1]
        served = Served(process, found[0], said)
        yield served
        if process.poll() is None:
            assert "Traceback" not in served.stop()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
