"""`sanderling crawl --hosts`, with real daemons of ssh."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sanderling.cluster.ssh import hosts_in
from sanderling.errors import UsageError
from sanderling.testing import SyntheticWeb
from tests.applications import free_port
from tests.conftest import FAST, PATIENT, Run, started, stored_urls
from tests.waiting import until

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
real_ssh = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None, reason="OpenSSH's server and client are not installed"
)


class Hosts(NamedTuple):
    """Two names of this machine, for ssh, and the setting that knows them."""

    names: tuple[str, str]
    ssh: str

    @property
    def settings(self) -> tuple[str, ...]:
        program = str(Path(sys.executable).with_name("sanderling"))
        return ("--hosts", ",".join(self.names), "--hosts-ssh", self.ssh, "--hosts-program", program)

    def processes(self) -> list[int]:
        """Of nodes that were started there."""
        return [
            int(place.parent.name)
            for place in Path("/proc").glob("[0-9]*/cmdline")
            if any(name.encode() in _read(place) and b"--attached" in _read(place) for name in self.names)
        ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@contextmanager
def daemon(folder: Path) -> Iterator[Hosts]:
    assert SSHD is not None
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    port, names = free_port(), (f"one-{os.getpid()}", f"two-{os.getpid()}")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n"
    )
    (folder / "ssh_config").write_text(
        f"Host {' '.join(names)}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
        f" StrictHostKeyChecking no\n UserKnownHostsFile {folder}/known\n LogLevel ERROR\n"
    )
    with subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL) as process:
        try:
            ssh = ["ssh", "-F", str(folder / "ssh_config"), "-o", "BatchMode=yes", names[0]]
            until(lambda: subprocess.run([*ssh, "true"], capture_output=True).returncode == 0)
            yield Hosts(names, f"ssh -F {folder}/ssh_config")
        finally:
            process.terminate()


@real_ssh
def test_hosts_are_started_over_ssh_and_stopped_whatever_happens(tmp_path: Path, sanderling: Run) -> None:
    """The server is killed, and the crawl resumed; both times nothing stays behind."""
    pytest.importorskip("ray")
    folder = tmp_path / "crawl"
    with daemon(tmp_path) as hosts, SyntheticWeb(hosts=1, pages=60, seed=4).serve() as site:
        site.hold(after=30)
        with started("crawl", site.url, "-d", folder, *FAST, *hosts.settings, stderr=subprocess.PIPE) as process:
            until(lambda: site.held or process.poll() is not None)
            assert hosts.processes(), process.communicate()
            os.killpg(process.pid, signal.SIGKILL)
        until(lambda: not hosts.processes())
        site.release()
        ran = sanderling("crawl", "-d", folder, "--json", *PATIENT)
        assert (ran.code, ran.json["pages"]) == (0, 60), ran.err
        assert {each["name"] for each in ran.json["machines"] if each["archived"]} <= set(hosts.names)
        assert not hosts.processes()
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))


@real_ssh
def test_a_host_that_cannot_be_used_is_named(tmp_path: Path, sanderling: Run) -> None:
    with daemon(tmp_path) as hosts:
        settings = (*hosts.settings[:-1], "/nowhere/sanderling")
        ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", *settings)
        assert ran.code == 1 and "/nowhere/sanderling" in ran.err and "--hosts-program" in ran.err, ran.err
        nobody = ("--hosts", "nobody.invalid", "--hosts-ssh", hosts.ssh)
        ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", *nobody)
        assert ran.code == 1 and "nobody.invalid cannot be used through ssh" in ran.err, ran.err
        assert not (tmp_path / "crawl" / "sanderling.db").exists()


def test_a_list_of_hosts() -> None:
    assert hosts_in("a, user@b,ssh://c:22") == ["a", "user@b", "ssh://c:22"]
    for wrong in ("a,,b", "a,a", "-oProxyCommand=x", "a b"):
        with pytest.raises(UsageError):
            hosts_in(wrong)
