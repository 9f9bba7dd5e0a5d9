"""The light applications of the field trial, with little content: all of it is found, with few
requests."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench.field.application import Application, Item, Site, fresh, running
from bench.field.crawling import Crawl, crawl
from bench.field.registry import APPLICATIONS, LIGHT
from bench.field.trial import found_of
from bench.places import BenchError

# Requests at most. With so little content most are lists, and the first of each kind of view.
MOST = 600


@pytest.mark.parametrize("name", LIGHT)
def test_a_light_application_is_found_whole(name: str, tmp_path: Path) -> None:
    application = APPLICATIONS[name]
    try:
        application.install()
    except BenchError as missing:
        pytest.skip(str(missing))
    # Servers read it as another user, who may not enter the folders of pytest.
    with TemporaryDirectory(prefix="field-") as folder:
        Path(folder).chmod(0o755)
        site = fresh(name, within=Path(folder), small=True)
        application.fill(site)
        items, made = _crawled(application, site, tmp_path)
    assert len(found_of(items, made.urls)) == len(items)
    assert made.requests <= MOST


def _crawled(application: Application, site: Site, folder: Path) -> tuple[list[Item], Crawl]:
    with running(application, site) as url:
        made = crawl(folder / "crawl", url, *application.MANNERS.options, "--no-index")
        return application.truth(site), made
