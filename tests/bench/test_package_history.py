"""Histories of packages: what two releases differ in, and which files of an archive are pages."""

import io
import tarfile
import zipfile

from bench.package_history import differences, pages_of


def test_a_release_creates_changes_and_deletes_pages() -> None:
    before, after = {"a": b"1", "b": b"1", "c": b"1"}, {"a": b"1", "b": b"2", "d": b"1"}
    assert [row[:2] for row in differences(before, after, 5)] == [("c", "deleted"), ("d", "created"), ("b", "changed")]


def test_pages_are_the_sources_of_the_documentation_and_white_space_does_not_count() -> None:
    files = {"p-1/docs/a.rst": b"one\n\ntwo", "p-1/docs/a.png": b"x", "p-1/setup.py": b"x"}
    packed, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, body in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    with zipfile.ZipFile(zipped, "w") as archive_:
        for name, body in files.items():
            archive_.writestr(name, body.replace(b"\n\n", b"  "))
    found = pages_of(packed.getvalue(), "docs/")
    assert list(found) == ["docs/a.rst"]
    assert found == pages_of(zipped.getvalue(), "docs/")
