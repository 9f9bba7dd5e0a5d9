"""A crawl notices that the files it writes to were deleted."""

from pathlib import Path

import pytest

from sanderling.errors import Damaged
from sanderling.repository.folder import Folder
from sanderling.server.kept_files import KeptFiles
from sanderling.testing import SyntheticWeb
from tests.conftest import FAST, started
from tests.waiting import PATIENCE, until


def test_a_deleted_or_replaced_file_is_named(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.warcs.mkdir()
    for path in (folder.database, folder.warcs / "a.warc.gz"):
        path.touch()
    kept = KeptFiles(folder)
    kept.check(["a.warc.gz"])
    with pytest.raises(Damaged, match=r"b.warc.gz was deleted while the crawl ran; .* --repair"):
        kept.check(["b.warc.gz"])
    (tmp_path / "other").touch()
    (tmp_path / "other").rename(folder.database)
    with pytest.raises(Damaged, match="deleted or replaced while the crawl ran; `sanderling recover"):
        kept.check([])


@pytest.mark.parametrize("lost", ["sanderling.db", "warc/*.warc.gz"])
def test_a_crawl_whose_files_were_deleted_does_not_end_well(tmp_path: Path, lost: str) -> None:
    folder = tmp_path / "c"
    with SyntheticWeb(pages=60, seed=3).serve() as site:
        site.hold(after=40)
        with started("crawl", site.url, "-d", folder, *FAST, stdout=-1, stderr=-1) as process:
            until(lambda: site.held and [*folder.glob(lost)])
            for path in folder.glob(lost):
                path.unlink()
            site.release()
            out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, out
    assert "was deleted" in err and "while the crawl ran" in err
