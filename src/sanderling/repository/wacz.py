"""A crawl as one WACZ file (1.1.1): the archives, an index of them, the list of pages, and digests
of all of it. replayweb.page and other readers open it and read only the parts they need.

It is written in one pass. Only the index is held in memory, about 200 bytes a capture.
"""

import base64
import gzip
import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sanderling import __version__
from sanderling.model import Stored
from sanderling.repository import views, warc
from sanderling.repository.archive_export import CaptureIndex, RecordChoice, records
from sanderling.repository.export import LeftOut, WrittenBytes
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store

# Lines of the index that are packed together: a reader gets one such part for a look-up.
_TOGETHER = 1024
_PAGES_AT_ONCE = 1000
_SOFTWARE = f"Sanderling {__version__}"


class _Package:
    """Writes the files of a WACZ file, and takes note of what they are."""

    def __init__(self) -> None:
        self.written = WrittenBytes()
        self._zip = zipfile.ZipFile(self.written, "w", zipfile.ZIP_STORED)
        self.resources: list[dict[str, Any]] = []

    def add(self, path: str, chunks: Iterable[bytes], listed: bool = True) -> Iterator[bytes]:
        """A file from its chunks; yields what of the whole is written."""
        digest, size = sha256(), 0
        with self._zip.open(zipfile.ZipInfo(path, datetime.now(UTC).timetuple()[:6]), "w", force_zip64=True) as file:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
                yield self.written.take()
        if listed:
            name = path.rpartition("/")[2]
            self.resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def close(self) -> bytes:
        self._zip.close()
        return self.written.take()


def wacz(
    folder: Folder, store: Store, left_out: LeftOut, chosen: RecordChoice, sign: "Sign | None" = None
) -> Iterator[bytes]:
    """The chunks of a WACZ file. With `sign`, its digest is signed."""
    package, index = _Package(), CaptureIndex()
    yield from _archives(package, index, folder, store, left_out, chosen)
    blocks, places = _packed(index.lines())
    yield from package.add("indexes/index.cdx.gz", blocks)
    yield from package.add("indexes/index.idx", places)
    yield from package.add("pages/pages.jsonl", _pages(store, chosen))
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    described: dict[str, Any] = {
        "profile": "data-package", "wacz_version": "1.1.1", "created": created, "software": _SOFTWARE,
        "title": folder.path.resolve().name, "resources": package.resources,
    }  # fmt: skip
    if seeds := store.seeds():
        described["mainPageUrl"] = seeds[0]
    content = json.dumps(described, indent=2).encode()
    yield from package.add("datapackage.json", [content], listed=False)
    digest: dict[str, Any] = {"path": "datapackage.json", "hash": f"sha256:{sha256(content).hexdigest()}"}
    if sign is not None:
        digest["signedData"] = sign(digest["hash"], created)
    yield from package.add("datapackage-digest.json", [json.dumps(digest, indent=2).encode()], listed=False)
    yield package.close()


def _archives(
    package: _Package, index: CaptureIndex, folder: Folder, store: Store, left_out: LeftOut, chosen: RecordChoice
) -> Iterator[bytes]:
    """The archives, file by file, and their records in the index."""
    found = records(folder, store, left_out, chosen)
    following = next(found, None)
    while following is not None:
        name, offset = following[0], 0

        def chunks(name: str = name) -> Iterator[bytes]:
            nonlocal following, offset
            while following is not None and following[0] == name:
                _, record, content = following
                index.add(Stored(name, offset, record.length), warc.fields_of(content), content)
                offset += record.length
                yield record.packed
                following = next(found, None)

        yield from package.add(f"archive/{name}", chunks())


def _packed(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The index in parts that are packed one by one, and the list of these parts."""
    blocks, offset = [], 0
    places = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    for start in range(0, len(lines), _TOGETHER):
        part = lines[start : start + _TOGETHER]
        block = gzip.compress(b"".join(line + b"\n" for line in part), 6, mtime=0)
        place = {
            "offset": offset, "length": len(block), "digest": f"sha256:{sha256(block).hexdigest()}",
            "filename": "index.cdx.gz",
        }  # fmt: skip
        key = b" ".join(part[0].split(b" ", 2)[:2])
        places.append(key + b" " + json.dumps(place).encode() + b"\n")
        blocks.append(block)
        offset += len(block)
    return blocks, places


def _pages(store: Store, chosen: RecordChoice) -> Iterator[bytes]:
    """Every page that is there, with the time of its newest version."""
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n'
    seeds, last = set(store.seeds()), 0
    while found := views.current_versions(store, last, _PAGES_AT_ONCE, chosen.with_login):
        for page in found:
            version = page.version
            last = version.number
            if not chosen.since <= version.at < chosen.until or (chosen.urls and not chosen.urls.search(version.url)):
                continue
            at = datetime.fromtimestamp(version.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line: dict[str, Any] = {"id": f"page-{version.number}", "url": version.url, "ts": at}
            line |= {"title": version.title or version.url, "mime": version.mime, "status": version.status}
            if version.url in seeds:
                line["seed"] = True
            yield json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class Sign:
    """Signs digests with the key of a crawl, so that all its exports have one sender."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives import serialization

        self._key: Any = serialization.load_pem_private_key(key, None)

    @staticmethod
    def new_key() -> bytes:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        made = ec.generate_private_key(ec.SECP384R1())
        return made.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def __call__(self, hash: str, created: str) -> dict[str, str]:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        r, s = decode_dss_signature(self._key.sign(hash.encode(), ec.ECDSA(hashes.SHA256())))
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        signature = r.to_bytes(48, "big") + s.to_bytes(48, "big")
        return {
            "hash": hash, "created": created, "software": _SOFTWARE,
            "publicKey": base64.b64encode(public).decode(), "signature": base64.b64encode(signature).decode(),
        }  # fmt: skip
