"""The WACZ file of a crawl: what it says of itself is true, and its index leads to its records."""

import base64
import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from tests.conftest import Run


@pytest.fixture(scope="module")
def wacz(crawled: Path, sanderling: Run, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    file = tmp_path_factory.mktemp("wacz") / "small.wacz"
    assert sanderling("export", crawled / "small", "--format", "wacz", "-o", file).code == 0
    return zipfile.ZipFile(file)


def lines(wacz: zipfile.ZipFile) -> list[tuple[str, str, dict[str, str]]]:
    index = gzip.decompress(wacz.read("indexes/index.cdx.gz")).decode().splitlines()
    return [(key, at, json.loads(facts)) for key, at, facts in (line.split(" ", 2) for line in index)]


def test_its_digests_are_true(wacz: zipfile.ZipFile) -> None:
    described = json.loads(wacz.read("datapackage.json"))
    assert described["wacz_version"] == "1.1.1" and described["mainPageUrl"].startswith("http://")
    listed = {each["path"]: each for each in described["resources"]}
    assert {*wacz.namelist()} == {*listed, "datapackage.json", "datapackage-digest.json"}
    for path, said in listed.items():
        content = wacz.read(path)
        assert said["bytes"] == len(content) and said["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    digest = json.loads(wacz.read("datapackage-digest.json"))
    assert digest["hash"] == f"sha256:{hashlib.sha256(wacz.read('datapackage.json')).hexdigest()}"
    assert all(each.compress_type == zipfile.ZIP_STORED for each in wacz.infolist())


def test_its_index_leads_to_its_records(wacz: zipfile.ZipFile) -> None:
    found = lines(wacz)
    assert found == sorted(found, key=lambda each: (each[0], each[1])) and len(found) > 40
    for _, _, facts in found:
        archive = wacz.read(f"archive/{facts['filename']}")
        start, length = int(facts["offset"]), int(facts["length"])
        assert facts["url"].encode() in gzip.decompress(archive[start : start + length])[:2000]
    blocks = [json.loads(line.split(" ", 2)[2]) for line in wacz.read("indexes/index.idx").decode().splitlines()[1:]]
    assert sum(each["length"] for each in blocks) == len(wacz.read("indexes/index.cdx.gz"))


def test_its_list_of_pages_is_complete(wacz: zipfile.ZipFile, crawled: Path, sanderling: Run) -> None:
    head, *listed = map(json.loads, wacz.read("pages/pages.jsonl").decode().splitlines())
    assert head["format"] == "json-pages-1.0"
    there = [row for row in sanderling("pages", crawled / "small", "--json").lines if row["state"] == "fetched"]
    there = [row["url"] for row in there if row["warc"] and not row["same_as"]]
    assert sorted(each["url"] for each in listed) == sorted(there)
    assert {each["url"] for each in listed} <= {facts["url"] for _, _, facts in lines(wacz)}
    assert [each["url"] for each in listed if each.get("seed")] == [
        json.loads(wacz.read("datapackage.json"))["mainPageUrl"]
    ]


def test_it_can_be_signed_and_narrowed_down(crawled: Path, sanderling: Run, tmp_path: Path) -> None:
    one, file = (
        json.loads(sanderling("pages", crawled / "small", "--json").out.splitlines()[0])["url"],
        tmp_path / "a.wacz",
    )
    narrow = ("--urls", f"^{one}$", "--since", "1d", "--sign")
    assert sanderling("export", crawled / "small", "--format", "wacz", "-o", file, *narrow).code == 0
    with zipfile.ZipFile(file) as wacz:
        assert {facts["url"] for _, _, facts in lines(wacz)} == {one}
        signed = json.loads(wacz.read("datapackage-digest.json"))["signedData"]
    public = serialization.load_der_public_key(base64.b64decode(signed["publicKey"]))
    signature = base64.b64decode(signed["signature"])
    both = encode_dss_signature(int.from_bytes(signature[:48], "big"), int.from_bytes(signature[48:], "big"))
    assert isinstance(public, ec.EllipticCurvePublicKey)
    public.verify(both, signed["hash"].encode(), ec.ECDSA(hashes.SHA256()))
    assert (crawled / "small" / "sanderling.key").stat().st_mode & 0o777 == 0o600

    later = ("--since", "2026-01-01", "--until", "2026-01-02")
    assert (
        sanderling("export", crawled / "small", "--format", "warc", "-o", tmp_path / "none.warc.gz", *later).code == 0
    )
    assert (tmp_path / "none.warc.gz").stat().st_size == 0
    wrong = sanderling("export", crawled / "small", "--format", "links", "-o", "-", "--urls", "x")
    assert wrong.code == 2 and "are for --format warc, wacz and cdxj" in wrong.err


def test_it_comes_back_by_import(wacz: zipfile.ZipFile, crawled: Path, sanderling: Run, tmp_path: Path) -> None:
    assert sanderling("import", str(wacz.filename), "-d", tmp_path / "again").code == 0
    before, after = (
        {(row["url"], row["digest"]) for row in sanderling("pages", folder, "--json").lines if row["warc"]}
        for folder in (crawled / "small", tmp_path / "again")
    )
    assert before == after
