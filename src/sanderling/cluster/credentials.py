"""What the machines of a cluster share so that nobody else can join: a token, and certificates for
TLS.

A folder holds it, readable by its owner only. Whoever has it can run programs on every machine of
the cluster.
"""

import datetime
import ipaddress
import os
import secrets
import socket
import ssl
from pathlib import Path

from sanderling.errors import RunFailed, UsageError
from sanderling.files import write_whole

FOLDER = "SANDERLING_CLUSTER"
_YEARS = 10
CONNECT = 5.0  # seconds for a connection


class Credentials:
    """The folder of a cluster on this machine."""

    def __init__(self, path: Path | None = None) -> None:
        named = os.environ.get(FOLDER)
        self.path = path or (Path(named) if named else Path.home() / ".config" / "sanderling" / "cluster")

    @property
    def token(self) -> Path:
        return self.path / "token"

    @property
    def authority(self) -> tuple[Path, Path]:
        """The certificate that vouches for all machines, and its key."""
        return self.path / "ca.pem", self.path / "ca.key"

    @property
    def own(self) -> tuple[Path, Path]:
        """The certificate of this machine, and its key."""
        return self.path / "machine.pem", self.path / "machine.key"

    @property
    def address(self) -> str:
        """Where the head is that this machine started or joined; empty for none."""
        try:
            return (self.path / "address").read_text().strip()
        except OSError:
            return ""

    def note_address(self, address: str) -> None:
        write_private(self.path / "address", address.encode())

    def make_token(self) -> None:
        """Makes the token, unless there is one."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.token.exists():
            write_private(self.token, secrets.token_hex(32).encode())

    def make_authority(self) -> None:
        """Makes what a cluster needs, unless it is there."""
        self.make_token()
        if not self.authority[0].exists():
            certificate, key = _authority()
            write_private(self.authority[1], key)
            write_private(self.authority[0], certificate)

    def make_own(self, address: str) -> None:
        """Makes a certificate for this machine at an address, unless it has one. All nodes of a
        machine share it, so its key and its addresses stay."""
        addresses = _addresses_in(self.own[0], self.authority[0]) if self.own[1].exists() else []
        if address in addresses:
            return
        certificate, key = _signed(self.authority, [*addresses, address], self.own[1] if addresses else None)
        write_private(self.own[1], key)
        write_private(self.own[0], certificate)

    def require_private(self) -> None:
        """Refuses files that others can read."""
        for path in (self.token, self.authority[1], self.own[1]):
            if path.exists() and path.stat().st_mode & 0o077:
                raise UsageError(f"{path} can be read by other users of this machine: run `chmod 600 {path}`")

    def environment(self, address: str) -> dict[str, str]:
        """The environment variables by which Ray uses the credentials. On loopback there is TLS,
        too: any user may listen there while the head is away, and would receive the token."""
        if not self.token.exists():
            return {}
        self.require_private()
        if not self.own[0].exists():
            how = (
                "start the cluster again with `sanderling cluster start`" if is_loopback(address) else
                "make it with `sanderling cluster init` on one machine, and copy the folder to the others"
            )  # fmt: skip
            raise UsageError(f"there is no certificate of this machine in {self.path}: {how}")
        return {
            "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USE_TLS": "1", "RAY_TLS_SERVER_CERT": str(self.own[0]), "RAY_TLS_SERVER_KEY": str(self.own[1]),
            "RAY_TLS_CA_CERT": str(self.authority[0]),
        }  # fmt: skip


def require_same_authority(credentials: Credentials, address: str) -> None:
    """Refuses a listener that has no certificate of this cluster, before Ray sends it the token or
    waits for it."""
    if not credentials.token.exists() or not credentials.authority[0].exists():
        return
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    context = ssl.create_default_context(cafile=credentials.authority[0])
    context.set_alpn_protocols(["h2"])
    try:
        with (
            socket.create_connection((host, int(port)), timeout=CONNECT) as line,
            context.wrap_socket(line, server_hostname=host),
        ):
            return
    except ssl.SSLError:
        problem = "has other certificates than this machine"
    except OSError as error:
        problem = f"does not answer in TLS ({error.strerror or error})"
    raise RunFailed(f"the cluster at {address} {problem}: copy the folder of the token from its head")


def speaks_tls(address: str) -> bool:
    """Whether a listener answers in TLS, whatever its certificate."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with (
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT) as line,
            context.wrap_socket(line),
        ):
            return True
    except (OSError, ValueError):  # of which an SSLError is a kind
        return False


class Revoked:
    """The machines that the user revoked, read again when the list changes."""

    def __init__(self) -> None:
        self._place = Credentials().path / "revoked"
        self._stamp = 0.0
        self._names: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        try:
            stamp = self._place.stat().st_mtime
        except OSError:
            return frozenset()
        if stamp != self._stamp:
            self._stamp, self._names = stamp, frozenset(self._place.read_text().split("\n")) - {""}
        return self._names

    def add(self, name: str) -> None:
        write_private(self._place, "\n".join(sorted({*self.names, name})).encode())

    def remove(self, name: str) -> None:
        write_private(self._place, "\n".join(sorted(self.names - {name})).encode())


def one_line() -> bytes:
    """A certificate and its key, both for one line between two processes: each shows it, and
    trusts no other."""
    return b"".join(_authority())


def is_loopback(address: str) -> bool:
    """Whether an address, with or without a port, cannot be reached from another machine."""
    host = address.rpartition(":")[0] or address
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can read, from the first moment on."""
    before = os.umask(0o077)
    try:
        write_whole(path, content)
    finally:
        os.umask(before)


def _authority() -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"Sanderling cluster {secrets.token_hex(4)}")])
    begin, end = _validity()
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    return _pem(certificate, key)


def _addresses_in(certificate: Path, authority: Path) -> list[str]:
    """The addresses that a certificate is for; none if it is not of this authority."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature

    try:
        own = x509.load_pem_x509_certificate(certificate.read_bytes())
        own.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.read_bytes()))
        named = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return []
    return [str(each.value) for each in named]


def _signed(authority: tuple[Path, Path], addresses: list[str], kept: Path | None) -> tuple[bytes, bytes]:
    """A certificate for these addresses; of a key that is kept, or of a new one."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        issuer = x509.load_pem_x509_certificate(authority[0].read_bytes())
        signing = serialization.load_pem_private_key(authority[1].read_bytes(), None)
    except (OSError, ValueError):
        raise UsageError(
            f"{authority[0].parent} has no certificates: run `sanderling cluster init`, or copy the folder from the machine "
            "that did"
        ) from None
    own = (
        serialization.load_pem_private_key(kept.read_bytes(), None) if kept else ec.generate_private_key(ec.SECP256R1())
    )
    begin, end = _validity()
    names: list[x509.GeneralName] = []
    for each in dict.fromkeys(("localhost", socket.gethostname(), "127.0.0.1", *addresses)):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(each)))
        except ValueError:
            names.append(x509.DNSName(each))
    assert isinstance(signing, ec.EllipticCurvePrivateKey) and isinstance(own, ec.EllipticCurvePrivateKey)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, socket.gethostname()[:64])]))
        .issuer_name(issuer.subject).public_key(own.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(begin).not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(signing, hashes.SHA256())
    )  # fmt: skip
    return _pem(certificate, own)


def _validity() -> tuple[datetime.datetime, datetime.datetime]:
    """From yesterday on, because clocks may differ by hours."""
    now = datetime.datetime.now(datetime.UTC)
    return now - datetime.timedelta(days=1), now + datetime.timedelta(days=365 * _YEARS)


def _pem(certificate: object, key: object) -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    assert isinstance(certificate, x509.Certificate) and isinstance(key, ec.EllipticCurvePrivateKey)
    encoding = serialization.Encoding.PEM
    secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(encoding), secret
