"""Every mistake gets one sentence at once, and nothing is made of the crawl."""

import os
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from sanderling.cluster.credentials import FOLDER, Credentials, is_loopback
from sanderling.cluster.node import _arguments, own_place
from sanderling.errors import UsageError
from tests.conftest import Run

NO_RAY = """
import sys

sys.modules["ray"] = None
"""


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["crawl", "http://127.0.0.1:9/", "-d", "DIR", "--cluster", "127.0.0.1:1"], 1, "no cluster answers at 127.0.0.1:1"),
        (["crawl", "http://127.0.0.1:9/", "-d", "DIR", "--cluster", "ray://h:1"], 2, "is a Ray client address"),
        (["crawl", "http://127.0.0.1:9/", "-d", "DIR", "--cluster", "nowhere"], 2, "neither auto nor the HOST:PORT"),
        (["crawl", "http://127.0.0.1:9/", "-d", "DIR", "--clients", "8..2"], 2, "is not a range such as 2..8"),
        (["cluster", "start", "--own", "10.99.99.99"], 2, "run `sanderling cluster init` first"),
        (["cluster", "join", "10.99.99.99:6380"], 2, "this machine has no token"),
        (["cluster", "join"], 2, "no cluster was started here"),
        (["cluster", "admit", "one"], 2, "is not revoked"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, sanderling: Run, arguments: list[str], code: int, sentence: str) -> None:
    folder = tmp_path / "crawl"
    given = [str(folder) if word == "DIR" else word for word in arguments]
    ran = sanderling(*given, env={FOLDER: str(tmp_path / "cluster")})
    assert ran.code == code, ran.err
    assert sentence in ran.err and len(ran.err.splitlines()) == 1
    assert not folder.exists()


def test_without_ray_one_is_told_what_to_install(tmp_path: Path, sanderling: Run) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_RAY)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ran = sanderling(
        "crawl", "http://127.0.0.1:9/", "-d", tmp_path / "crawl", "--cluster", "auto",
        env={FOLDER: str(tmp_path / "cluster"), "PYTHONPATH": path},
    )  # fmt: skip
    assert (ran.code, "pip install 'sanderling[cluster]'" in ran.err) == (2, True), ran.err


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    credentials = Credentials(tmp_path / "cluster")
    credentials.make_authority()
    credentials.make_own("10.0.0.1")
    assert {path.stat().st_mode & 0o777 for path in credentials.path.iterdir()} == {0o600}
    for address in ("127.0.0.1:1", "10.0.0.1:1"):  # on loopback, another user may listen
        assert credentials.environment(address)["RAY_USE_TLS"] == "1"
    credentials.token.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by other users"):
        credentials.environment("127.0.0.1:1")


def test_certificates_are_those_of_the_cluster(tmp_path: Path) -> None:
    """The certificate of a machine is signed by the authority, and is for its address."""
    import ssl

    credentials = Credentials(tmp_path / "cluster")
    credentials.make_authority()
    credentials.make_own("10.0.0.7")
    server, client = (
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
        ssl.create_default_context(cafile=credentials.authority[0]),
    )
    server.load_cert_chain(*credentials.own)
    for address, accepted in (("10.0.0.7", True), ("10.0.0.8", False)):
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        here = client.wrap_bio(to_client, to_server, server_hostname=address)
        there = server.wrap_bio(to_server, to_client, server_side=True)
        assert _shakes_hands(here, there) == accepted


def test_the_nodes_of_a_machine_share_a_certificate(tmp_path: Path) -> None:
    """One that joins changes neither the key nor the addresses of one that runs."""
    from cryptography import x509

    credentials = Credentials(tmp_path / "cluster")
    credentials.make_authority()
    for address in ("127.0.0.1", "127.0.0.2", "10.0.0.7"):
        credentials.make_own(address)
        kept = credentials.own[1].read_bytes()
    certificate = x509.load_pem_x509_certificate(credentials.own[0].read_bytes())
    named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"127.0.0.1", "127.0.0.2", "10.0.0.7"} <= {str(each.value) for each in named}
    credentials.make_own("127.0.0.2")
    assert credentials.own[1].read_bytes() == kept
    credentials.authority[0].unlink()
    credentials.make_authority()  # of another cluster
    credentials.make_own("127.0.0.1")
    assert credentials.own[1].read_bytes() != kept


def test_the_folder_of_ray_is_below_one_that_only_its_user_can_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = own_place()
    assert place.stat().st_mode & 0o777 == 0o700 and own_place() == place
    arguments = _arguments(place / "ray", True, "127.0.0.1:1", "127.0.0.1", {}, "")
    assert f"--temp-dir={place}/ray" in arguments  # which Ray opens to everybody
    place.chmod(0o755)
    with pytest.raises(UsageError, match="only you can use"):
        own_place()
    place.rmdir()
    place.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    with pytest.raises(UsageError, match="only you can use"):
        own_place()
    if os.geteuid() == 0:
        place.unlink()
        place.mkdir(mode=0o700)
        os.chown(place, 65534, 65534)
        with pytest.raises(UsageError, match="only you can use"):
            own_place()


def _shakes_hands(here: "object", there: "object") -> bool:
    import ssl

    for _ in range(10):
        for side in (here, there):
            try:
                side.do_handshake()  # type: ignore[attr-defined]
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


@pytest.mark.parametrize(
    ("address", "found"),
    [("127.0.0.1", True), ("127.0.0.1:80", True), ("localhost:80", True), ("10.0.0.1:80", False), ("host:80", False)],
)
def test_addresses_that_nobody_else_can_reach(address: str, found: bool) -> None:
    assert is_loopback(address) == found


def test_somebody_elses_closed_cluster_is_named_at_once(tmp_path: Path, sanderling: Run) -> None:
    """Ray itself would try for minutes."""
    other = Credentials(tmp_path / "other")
    other.make_authority()
    other.make_own("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*other.own)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    with context.wrap_socket(listening.accept()[0], server_side=True):
                        pass

        threading.Thread(target=listen, daemon=True).start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        environment = {FOLDER: str(tmp_path / "own"), "RAY_ADDRESS": address}
        ran = sanderling("cluster", "status", env=environment)
        assert ran.code == 1 and f"the cluster at {address} is closed to this machine" in ran.err, ran.err
