"""`sanderling browser install`, with stand-ins for apt-get and npx. Nothing is downloaded."""

import os
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.rendering.rendering import browser

# Notes how it was called, and puts a browser into PATH if it installs this package.
INSTALLER = """#!/bin/sh
echo "$(basename "$0") $*" >>"{calls}"
for last; do :; done
if [ "$last" = "{package}" ]; then /bin/echo '#!/bin/sh' >"{bin}/{package}"; /bin/chmod +x "{bin}/{package}"; fi
"""


class Place:
    """A system without a browser, and with one installer."""

    def __init__(self, path: Path, installer: str = "", package: str = "none") -> None:
        self.bin, self.calls = path / "bin", path / "calls"
        self.bin.mkdir()
        (self.bin / "basename").symlink_to("/usr/bin/basename")
        if installer:
            program = self.bin / installer
            program.write_text(INSTALLER.format(calls=self.calls, bin=self.bin, package=package))
            program.chmod(0o755)
        self.env = {"PATH": str(self.bin), "HOME": str(path)}

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


def test_a_browser_that_is_there_is_named(sanderling: Run) -> None:
    program = browser()
    ran = sanderling("browser", "install")
    assert ran.code == 0 and ran.out == f"{program} is there; nothing to install\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="packages are installed by root")
@pytest.mark.parametrize("package", ["chromium-headless-shell", "chromium"])
def test_root_gets_the_package_of_the_system(package: str, sanderling: Run, tmp_path: Path) -> None:
    place = Place(tmp_path, "apt-get", package)
    ran = sanderling("browser", "install", env=place.env)
    assert ran.code == 0 and ran.out == f"installed {place.bin / package}\n", ran.err
    assert place.asked()[0] == "apt-get update -qq"
    assert place.asked()[-1].endswith(f"--no-install-recommends {package}")
    assert all(call in ran.err for call in place.asked())  # it says what it runs


def test_without_packages_npx_is_asked(sanderling: Run, tmp_path: Path) -> None:
    place = Place(tmp_path, "npx", "chromium-headless-shell")
    assert sanderling("browser", "install", env=place.env).code == 0
    assert place.asked() == ["npx --yes playwright install chromium-headless-shell"]


@pytest.mark.parametrize("installer", ["", "apt-get", "npx"])
def test_what_could_not_be_installed_is_said(installer: str, sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("browser", "install", env=Place(tmp_path, installer).env)
    assert ran.code == 1 and not ran.out
    assert "no browser could be installed: install Chromium with" in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err
