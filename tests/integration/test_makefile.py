"""`make`: errors for missing prerequisites, and no needless installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALLED_FROM = ("pyproject.toml", "requirements/dev.txt")


class Clone:
    """A folder with the Makefile and the files that it depends on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("Makefile", *INSTALLED_FROM):
            (path / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, path / name)

    def make(self, *arguments: str, **env: str) -> tuple[int, str]:
        variables = {"PATH": os.environ["PATH"], "JAVA_HOME": self.java("17.0.15"), **env}
        process = subprocess.run(
            ["make", *arguments],
            cwd=self.path,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return process.returncode, process.stdout

    def java(self, version: str) -> str:
        """Create a JAVA_HOME whose ``java`` prints a version to standard error, as Java does."""
        home = self.path / f"java {version}"
        _script(home / "bin/java", f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
        return str(home)

    def python(self, script: str) -> str:
        return str(_script(self.path / "python", script))

    def is_set_up(self) -> bool:
        return (self.path / ".venv").exists()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize("target", ["test", "demo"])
@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.8.0_392", 'is older: openjdk version "1.8.0_392"'),
        ("11.0.21", 'is older: openjdk version "11.0.21"'),
    ],
)
def test_too_old_java_is_an_error(clone: Clone, target: str, version: str, message: str) -> None:
    status, output = clone.make(target, JAVA_HOME=clone.java(version))
    assert status != 0
    assert "Spark needs Java 17 or later" in output
    assert message in output
    assert "openjdk-17-jre-headless" in output
    assert not clone.is_set_up()


@pytest.mark.parametrize("target", ["test", "demo"])
def test_missing_java_is_an_error(clone: Clone, target: str) -> None:
    status, output = clone.make(target, JAVA_HOME=str(clone.path / "nowhere"))
    assert status != 0
    assert "Spark needs Java 17 or later, and there is no" in output
    assert not clone.is_set_up()


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "25.0.1"])
def test_new_enough_java_is_accepted(clone: Clone, version: str) -> None:
    assert clone.make("require-java", JAVA_HOME=clone.java(version)) == (0, "")


def test_too_old_python_is_an_error(clone: Clone) -> None:
    python = clone.python('case "$2" in *print*) echo 3.10;; *) exit 1;; esac')
    status, output = clone.make("test", f"PYTHON={python}")
    assert status != 0
    assert f"schemalint needs Python 3.11 or later, and {python} is 3.10." in output
    assert "make test PYTHON=python3.12" in output
    assert not clone.is_set_up()


def test_missing_python_is_an_error(clone: Clone) -> None:
    status, output = clone.make("test", "PYTHON=python-of-nowhere")
    assert status != 0
    assert "schemalint needs Python 3.11 or later, and there is no python-of-nowhere." in output
    assert not clone.is_set_up()


def test_python_without_venv_is_an_error(clone: Clone) -> None:
    python = clone.python(f'case "$2" in *venv*) exit 1;; *) exec "{sys.executable}" "$@";; esac')
    status, output = clone.make("test", f"PYTHON={python}")
    assert status != 0
    assert "has no venv: apt-get install python3." in output
    assert not clone.is_set_up()


@pytest.mark.parametrize("changed", INSTALLED_FROM)
def test_packages_are_installed_again_only_after_their_lists_change(clone: Clone, changed: str) -> None:
    installed = clone.path / ".venv/.installed"
    assert "pip install" in clone.make("-n", "test")[1]
    installed.parent.mkdir()
    installed.touch()
    for name in INSTALLED_FROM:
        os.utime(clone.path / name, (1, 1))
    assert "pip install" not in clone.make("-n", "test")[1]
    os.utime(installed, (2, 2))
    os.utime(clone.path / changed, (3, 3))
    assert "pip install" in clone.make("-n", "test")[1]


def test_without_a_target_make_lists_the_targets(clone: Clone) -> None:
    status, output = clone.make()
    assert status == 0
    assert "make demo" in output
    assert "make test" in output


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
