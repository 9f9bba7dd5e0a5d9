"""The browser's process: started without a network, without rights and with its sandbox on.

Three walls stand between the browser and the network. Requests are intercepted and answered by us.
The process runs in an empty network namespace, where the system permits one. And the browser is
told that no name can be resolved and that its proxy is nowhere.
"""

import ctypes
import os
import pwd
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sanderling.browser.devtools import DevTools
from sanderling.client.loop import Loop
from sanderling.processes.memory_limit import lift_memory_limit
from sanderling.processes.scratch import Scratch

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
_DIE_WITH_PARENT, _DUMPABLE = 1, 4  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE
_PIPE_SIZE, _BYTES = 1031, 1 << 20  # F_SETPIPE_SZ: a script of a megabyte goes through in one piece
_NOBODY = "nobody"
# The processes of a browser are looked for so often; they are there soon after its start.
MOST_LOOKS = 20
_LARGEST_FILE = 1 << 30
_libc = ctypes.CDLL(None, use_errno=True)

FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    # No network, whatever a page or the browser itself tries.
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://0.0.0.0:1", "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-domain-reliability", "--disable-breakpad",
    "--disable-client-side-phishing-detection", "--disable-default-apps", "--disable-extensions", "--metrics-recording-only",
    "--dns-prefetch-disable", "--no-pings",
    # The same page in every visit, in a tab in the background.
    "--force-prefers-reduced-motion", "--hide-scrollbars", "--mute-audio", "--window-size=1280,1024", "--lang=en-US",
    "--force-color-profile=srgb", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding", "--password-store=basic", "--disable-dev-shm-usage", "--disable-gpu",
    "--disk-cache-size=1", "--media-cache-size=1", "--log-level=3", "--disable-notifications",
    # A sandboxed frame in a process of its own may send a request before its requests are watched.
    "--disable-features=IsolateSandboxedIframes,BackForwardCache,Translate,OptimizationHints,MediaRouter,Prerender2,SpeculationRulesPrefetchFuture,"
    "DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater,"
    "InterestFeedContentSuggestions,PaintHolding",
)  # fmt: skip
_NO_SANDBOX = "--no-sandbox"
_OF_THE_BROWSER, _OF_ITS_CHILDREN = b"--remote-debugging-pipe", b"--type="


class BrowserLimits(NamedTuple):
    heap: int = 512  # of a page's JavaScript, in MiB
    processes: int = 8  # of pages


class Protection(NamedTuple):
    """What stands between the browser and the machine."""

    network: bool  # it has no network at all; else only flags and interception keep it from connecting
    sandbox: bool


class Browser:
    """A running browser and the connection to it."""

    def __init__(
        self,
        program: Path,
        loop: Loop,
        user_agent: str,
        limits: BrowserLimits,
        on_end: Callable[[], None],
        sandbox: bool = True,
    ) -> None:
        self._scratch = Scratch("browser")
        self._scratch.path.chmod(0o711)
        self._home = self._scratch.path / "home"
        self._home.mkdir(mode=0o700)
        self._log = self._scratch.path / "log"
        user = pwd.getpwnam(_NOBODY) if os.geteuid() == 0 else None
        if user is not None:
            os.chown(self._home, user.pw_uid, user.pw_gid)
        command = [
            str(program), *FLAGS, f"--user-data-dir={self._home / 'profile'}", f"--user-agent={user_agent}",
            f"--js-flags=--max-old-space-size={limits.heap}", f"--renderer-process-limit={limits.processes}",
            *([] if sandbox else [_NO_SANDBOX]), "about:blank",
        ]  # fmt: skip
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        for pipe in (ours_in, ours_out):
            _enlarge(pipe)
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True,
                    env=_environment(self._home), cwd=self._home, pass_fds=(3, 4),
                    preexec_fn=_preparation(theirs_in, theirs_out, user),
                )  # fmt: skip
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self.protection = Protection(_is_alone(self._process.pid), sandbox)
        self.tools = DevTools(loop, ours_in, ours_out, on_end)
        self._zygotes: list[int] = []
        self._network: list[int] = []
        self._looks = 0
        self.pid = self._process.pid  # the browser's own process, once it has answered

    def know_itself(self) -> None:
        """Finds the browser's own process, when it has answered. A script that we started may have
        started the browser, with the same words."""
        every = [self._process.pid, *descendants(self._process.pid)]
        alike = [pid for pid in every if _is(pid, _OF_THE_BROWSER) and not _is(pid, _OF_ITS_CHILDREN)]
        self.pid = alike[-1] if alike else self._process.pid

    def pages(self) -> list[int]:
        """The processes that may run pages. A zygote starts these, and has no other threads, so
        looking costs little.
        """
        if not self._network and self._looks < MOST_LOOKS:
            self._looks += 1
            all_of_it = descendants(self.pid)
            self._zygotes = [pid for pid in all_of_it if _is(pid, b"--type=zygote")]
            self._network = [pid for pid in all_of_it if _is(pid, b"network.mojom.NetworkService")]
        return [pid for zygote in self._zygotes or [self.pid] for pid in descendants(zygote, bool(self._zygotes))]

    def is_whole(self) -> bool:
        """Whether the processes live that all pages need. Without them it starts no pages, or has
        lost what it loaded.
        """
        return all(memory_of(pid) for pid in (*self._zygotes, *self._network))

    def said(self) -> str:
        """What it wrote to its standard error."""
        try:
            return self._log.read_bytes()[-20_000:].decode("utf-8", "replace")
        except OSError:
            return ""

    def close(self) -> None:
        """Ends it with all its processes. The script that started it may have ended before."""
        self.tools.close()
        for each in {*descendants(self._process.pid), *descendants(self.pid), self.pid, self._process.pid}:
            _kill(each)
        self._process.wait()
        self._scratch.close()


def _preparation(source: int, sink: int, user: pwd.struct_passwd | None) -> Callable[[], None]:
    """What the child does before it becomes the browser. All modules are loaded: it only makes
    system calls.
    """
    own = (user.pw_uid, user.pw_gid) if user is not None else (os.getuid(), os.getgid())

    def prepare() -> None:
        # Not onto each other: either pipe may have the number that the other is to get.
        kept = [_above(source), _above(sink)]
        for number, fd in zip((3, 4), kept, strict=True):
            os.dup2(fd, number)
        lift_memory_limit()  # it maps terabytes and fills little of them
        alone = user is not None and _libc.unshare(_NEW_NETWORK) == 0
        if user is not None:
            os.setgroups([])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
            _libc.prctl(_DUMPABLE, 1)  # otherwise it may not write its own maps
        if not alone and _libc.unshare(_NEW_USER | _NEW_NETWORK) == 0:  # root of a container may not do the former
            _map_to_itself(*own)
        _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)

    return prepare


def _above(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD, 10)


def _map_to_itself(user: int, group: int) -> None:
    """In a new user namespace, a process is nobody until it says who it was."""
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(line)


def _enlarge(pipe: int) -> None:
    import contextlib
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, _PIPE_SIZE, _BYTES)


def _environment(home: Path) -> dict[str, str]:
    """Nothing of ours: the environment may contain passwords."""
    return {"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "TZ": "UTC"}


def _is_alone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    except OSError:
        return False


def descendants(pid: int, of_main_threads: bool = False) -> list[int]:
    """The processes that a process started, with those that they started; only by their main
    threads, if so wanted.
    """
    found, unread = [], [pid]
    while unread:
        each = unread.pop()
        try:
            every = () if of_main_threads else Path(f"/proc/{each}/task").iterdir()
            threads = [thread.name for thread in every] or [str(each)]
            children = [int(child) for thread in threads for child in _children(each, thread)]
        except OSError:
            continue
        found += children
        unread += children
    return found


def _children(pid: int, thread: str) -> list[bytes]:
    with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:  # noqa: PTH123 - four times a second
        return file.read().split()


def memory_of(pid: int) -> int:
    """How much of the machine's memory a process uses."""
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # noqa: PTH123
            return int(file.read(100).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def is_page(pid: int) -> bool:
    """Whether a process of the browser runs pages."""
    return _is(pid, b"--type=renderer")


def _is(pid: int, word: bytes) -> bool:
    """Whether a process was started with a word."""
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
