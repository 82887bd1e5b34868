"""Wheel and sdist: what is in them, and what the wheel does in a new environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest

import schemalint
from schemalint.review.rulebook import load_rules
from support.repo import Repo

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
UV = (BIN / "uv", "--quiet")
BUILD = (*UV, "build", "--no-build-isolation", "--python", sys.executable)
RULE = "from schemalint.plugin import Severity\nnumber: int = Severity.ERROR.label\n"
pytestmark = pytest.mark.wide

ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> tuple[int, str]:
    process = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return process.returncode, process.stdout


@dataclass(frozen=True)
class Built:
    """The files that are published: as `make dist` has built them, else built for the tests."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = Path(os.environ.get("SCHEMALINT_DIST", "")) if "SCHEMALINT_DIST" in os.environ else None
    if folder is None:
        folder = tmp_path_factory.mktemp("dist")
        status, output = run(
            *UV, "build", "--no-build-isolation", "--python", sys.executable, "--out-dir", folder
        )
        assert status == 0, output
    (wheel,), (sdist,) = folder.absolute().glob("*.whl"), folder.absolute().glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel; the folder of its programs."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    for command in (
        ("venv", "--python", sys.executable, environment),
        ("pip", "install", "--python", environment, built.wheel),
    ):
        status, output = run(*UV, *command)
        assert status == 0, output
    return environment / BIN.name


@pytest.fixture
def shop(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.write("contracts/orders.yml", ORDERS)
    repo.commit()
    return repo


def in_wheel(built: Built) -> set[str]:
    with zipfile.ZipFile(built.wheel) as wheel:
        return set(wheel.namelist())


def test_a_package_index_accepts_them(built: Built) -> None:
    status, output = run(BIN / "twine", "check", "--strict", built.wheel, built.sdist)
    assert status == 0, output


def test_the_wheel_has_every_file_of_the_packages(built: Built) -> None:
    """The rules, the client table, the JSON schemas and py.typed too."""
    status, listed = run(
        "git", "ls-files", "--cached", "--others", "--exclude-standard", "schemalint", "rules"
    )
    assert status == 0
    files = {line.removeprefix("rules/") for line in listed.splitlines() if (ROOT / line).is_file()}
    assert {
        "schemalint/py.typed",
        "schemalint/clients/trino.yaml",
        "schemalint_rules/tw/illegal_narrowing.py",
    } < files
    about = f"schemalint-{schemalint.__version__}.dist-info"
    assert in_wheel(built) == files | {
        f"{about}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }


def test_the_sdist_builds_the_same_wheel_as_the_repository(built: Built, tmp_path: Path) -> None:
    status, output = run(*BUILD, "--wheel", "--out-dir", tmp_path)
    assert status == 0, output
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.read_bytes() == built.wheel.read_bytes()


def test_the_description_leads_out_of_the_package_index(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata["Version"] == schemalint.__version__
    text = str(metadata.get_payload())
    assert "](docs/" not in text
    assert f"/schemalint/blob/v{schemalint.__version__}/docs/rules/index.md)" in text
    assert f"/schemalint/v{schemalint.__version__}/docs/images/" in text
    assert {entry.split(",")[0] for entry in metadata.get_all("Project-URL", [])} >= {"Source", "Changelog"}


def test_the_commands_work_in_a_new_environment(installed: Path, shop: Repo) -> None:
    schemalint_ = installed / "schemalint"
    assert run(schemalint_, "--version") == (0, f"schemalint, version {schemalint.__version__}\n")
    assert run(schemalint_, "check", "--all", "--against", "none", cwd=shop.path, env=shop.env)[0] == 0
    shop.write("contracts/orders.yml", ORDERS.replace("bigint", "int"))
    status, output = run(schemalint_, "check", cwd=shop.path, env=shop.env)
    assert status == 1, output
    assert "error[TW001 illegal-narrowing]" in output, output
    assert "TW001" in run(schemalint_, "rules")[1]
    assert "trino" in run(schemalint_, "clients", "trino")[1]
    for name in ("contract", "report", "table", "plan", "config"):
        status, output = run(schemalint_, "schema", name)
        assert status == 0, name
        assert "$schema" in json.loads(output), name


def test_all_rules_are_loaded_where_the_wheel_is_installed(installed: Path) -> None:
    script = "from schemalint.review.rulebook import load_rules; print(len(load_rules()))"
    assert run(installed / "python", "-c", script, cwd=installed) == (0, f"{len(load_rules())}\n")


def test_the_wheel_alone_brings_neither_spark_nor_readers(installed: Path) -> None:
    names = "click", "pyarrow", "obstore", "pyspark", "delta"
    script = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    assert run(installed / "python", "-c", script, cwd=installed) == (0, "['click']\n")


def test_a_lake_is_adopted_with_what_is_installed(installed: Path, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "lakehouse")
    repo.commit()
    command = (installed / "schemalint", "init", "--root", ROOT / "tests/delta_log/logs", "--ci", "github")
    status, output = run(*command, cwd=repo.path, env=repo.env)
    assert status == 0, output
    assert "wrote .github/workflows/schemalint.yml" in output, output
    assert (repo.path / "contracts/checked.yml").is_file()


def test_types_are_seen_from_outside(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "rule.py").write_text(
        "from schemalint.plugin import Severity\nnumber: int = Severity.ERROR.label\n"
    )
    status, output = run(BIN / "mypy", "--python-executable", installed / "python", "rule.py", cwd=tmp_path)
    assert status == 1, output
    assert 'has type "str", variable has type "int"' in output, output
