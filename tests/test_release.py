"""What is released: the package, the image and the compose files."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import sanderling

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
COMPOSE = ["compose.yaml", "compose.postgresql.yaml"]


def ran(*words: object, **surroundings: str) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **surroundings}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compose(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    return read


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from the source distribution, as an installer without a wheel would."""
    place = tmp_path_factory.mktemp("dist")
    ran(sys.executable, "-m", "build", "--no-isolation", "--outdir", place, ROOT)
    assert len(list(place.glob("sanderling-*.tar.gz"))) == 1
    (made,) = place.glob("*.whl")
    return made


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    source = ROOT / "src"
    there = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert any(name.startswith("sanderling_announce/") for name in there)
    with zipfile.ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if ".dist-info/" not in name}
    built = {"sanderling/documents/native/_reader.abi3.so"}  # where there is a compiler
    assert packed - built == {n for n in there - built if "__pycache__" not in n and ".egg-info" not in n}
    tag = wheel.name.split("-", 2)[2]
    assert tag.startswith("cp311-abi3-") if built <= packed else tag == "py3-none-any.whl"


def test_the_wheel_runs_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    ran(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--target",
        tmp_path,
        wheel,
    )
    said = ran(sys.executable, "-m", "sanderling", "--version", PYTHONPATH=str(tmp_path))
    assert sanderling.__version__ in said
    assert ("native" in said) == wheel.name.startswith(f"sanderling-{sanderling.__version__}-cp311-abi3-")
    assert (tmp_path / "bin" / "sanderling").exists()
    asked = ran(sys.executable, "-m", "sanderling", "lab", "--help", PYTHONPATH=str(tmp_path), COLUMNS="80")
    assert "pip install -e '.[lab]'" in asked


def test_one_version_everywhere() -> None:
    version = sanderling.__version__
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == version
    assert compose("compose.yaml")["services"]["sanderling"]["image"] == f"sanderling:{version}"


def test_the_image_passes_its_linter() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    if not linter.exists():
        pytest.skip("hadolint has no package for this machine")
    ran(linter, DOCKERFILE)


def test_the_image_copies_what_exists() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    sources = [name for line in copied for name in line.split()]
    assert sources and all((ROOT / name).exists() for name in sources), sources


@pytest.mark.parametrize("name", COMPOSE)
def test_compose_files_pass_their_linter(name: str) -> None:
    ran(Path(sys.executable).parent / "compose-lint", "check", DEPLOY / name)


def test_compose_files_fit_the_image_and_each_other() -> None:
    base, more = map(compose, COMPOSE)
    service, added = base["services"]["sanderling"], more["services"]["sanderling"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == DOCKERFILE
    exposed = re.search(r"^EXPOSE (.+)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert exposed and [line.split(":")[-1] for line in service["ports"]] == exposed[1].split()
    assert set(added["depends_on"]) <= set(more["services"])
    volumes = [
        (part, each["volumes"]) for part in (base, more) for each in part["services"].values() if "volumes" in each
    ]
    assert all(line.split(":")[0] in part["volumes"] for part, lines in volumes for line in lines)
    assert f"@{next(iter(added['depends_on']))}/" in added["environment"]["SANDERLING_STORE"]
