"""The least that renders pages: one loop over the DevTools protocol. Arguments: BROWSER FILE, a URL
a line.

The browser fetches for itself, with its own cache. There is no archive, no store, no rule and no
link.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUIET = 0.3
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-sandbox", "--disable-gpu", "--mute-audio"]


class Bare:
    def __init__(self, browser: str, profile: str) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def prepare() -> None:
            kept = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        command = [browser, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=prepare, stderr=subprocess.DEVNULL)
        self.source, self.sink = os.fdopen(ours_in, "rb", 0), ours_out
        self.heard, self.number, self.events = b"", 0, list[str]()

    def call(self, method: str, session: str = "", **params: object) -> dict[str, object]:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.sink, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.heard:
                self.heard += self.source.read(1 << 20)
            one, _, self.heard = self.heard.partition(b"\0")
            answer = json.loads(one)
            if answer.get("id") == self.number:
                return dict(answer.get("result", {}))


def main() -> None:
    browser, urls = sys.argv[1], Path(sys.argv[2]).read_text().split()
    pages = 0
    with tempfile.TemporaryDirectory() as profile:
        bare = Bare(browser, profile)
        target = bare.call("Target.createTarget", url="about:blank")["targetId"]
        session = str(bare.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        bare.call("Network.enable", session)
        bare.call("Network.setBlockedURLs", session, urls=["*.png", "*.jpg", "*.gif", "*.svg", "*.woff", "*.woff2"])
        filled = "(app === null || app.textContent.length > 60)"
        ready = f"((app) => document.readyState === 'complete' && {filled})(document.getElementById('app'))"
        for url in urls:
            bare.call("Page.navigate", session, url=url)
            while True:
                time.sleep(QUIET)
                result = bare.call("Runtime.evaluate", session, expression=ready, returnByValue=True)["result"]
                if dict(result).get("value"):  # type: ignore[call-overload]
                    break
            html = bare.call(
                "Runtime.evaluate", session, expression="document.documentElement.outerHTML", returnByValue=True
            )
            pages += len(str(html)) > 1000
        bare.process.kill()
        bare.process.wait()
    print(json.dumps({"pages": pages}))


main()
