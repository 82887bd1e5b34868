"""What asks the engine runs in `make test` or in one target, which `.ci/run`, nights and releases start."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from support.repo import Repo
from support.targets import COLLECTED, TARGETS, is_for_each_time, parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ALWAYS = {"test", "wide", "lint", "tour"}
"""What `.ci/run` starts whatever changed."""
NIGHTLY = {"engine"}
"""What takes too long for `.ci/run`."""
NOT_DRIVEN = {"base"}
"""Values and errors, which every test uses: those of `make test` do, too."""


def test_make_test_leaves_out_what_a_target_runs() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (expression,) = re.findall(r"^EACH_TIME := -m '(.*)'$", makefile, re.MULTILINE)
    assert {name.removeprefix("not ") for name in expression.split(" and ")} == set(TARGETS)
    made = {
        name for line in re.findall(r"^([a-z][a-z -]*):", makefile, re.MULTILINE) for name in line.split()
    }
    assert set(TARGETS.values()) <= made


def test_a_target_that_names_files_names_those_of_its_mark(pytestconfig: pytest.Config) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = dict(re.findall(r"-m pytest .*-m (\w+) (tests/\S+)", makefile))
    assert {"dbt", "demo", "older"} <= named.keys()
    elsewhere = [
        item.nodeid
        for item in pytestconfig.stash[COLLECTED]
        for mark, path in named.items()
        if item.get_closest_marker(mark) and not item.path.is_relative_to(ROOT / path)
    ]
    assert elsewhere == []


def test_nightly_runs_each_target_and_a_release_needs_it() -> None:
    workflows = {
        name: yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text("utf-8"))
        for name in ("nightly", "release")
    }
    (nightly,) = workflows["nightly"]["jobs"].values()
    assert set(nightly["strategy"]["matrix"]["target"]) == {"test", *TARGETS.values()}
    release = workflows["release"]["jobs"]
    (needed,) = (name for name, job in release.items() if "nightly.yml" in job.get("uses", ""))
    assert needed in release["publish"]["needs"]


def test_each_test_of_the_engine_runs_in_make_test_or_in_one_target(pytestconfig: pytest.Config) -> None:
    several = {}
    for item in pytestconfig.stash[COLLECTED]:
        targets = {mark.name for mark in item.iter_markers()} & TARGETS.keys()
        if item.get_closest_marker("spark") and len(targets) != (0 if is_for_each_time(item) else 1):
            several[item.nodeid] = targets
    assert several == {}


def test_ids_of_parameters_for_each_time_exist(pytestconfig: pytest.Config) -> None:
    known: dict[tuple[Path, str], set[str]] = {}
    named: dict[tuple[Path, str], set[str]] = {}
    for item in pytestconfig.stash[COLLECTED]:
        function = (item.path, item.name.partition("[")[0])
        known.setdefault(function, set()).add(parameters(item))
        for mark in item.iter_markers("each_time"):
            named.setdefault(function, set()).update(mark.args)
    assert {function: ids - known[function] for function, ids in named.items() if ids - known[function]} == {}


class Checkout:
    """A repository with the names of our files, where `.ci/run` finds a `make` that only notes its target."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo(folder / "checkout")
        self.started = folder / "started"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ("chromium", "zsh", "fish"):
            self.tool(tool, "")
        self.tool("make", f'echo "$1" >>"{self.started}"; echo "== 1 passed in 1.00s =="')
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in listed.stdout.splitlines():
            self.repo.write(name, "")
        shutil.copy(ROOT / ".ci/run", self.repo.path / ".ci/run")
        self.repo.commit()
        self.repo.commit()

    def tool(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)

    def run(self, changed: str) -> tuple[set[str], str]:
        """Return the targets that a change of a file starts, and what is printed."""
        self.started.unlink(missing_ok=True)
        file = self.repo.write(changed, "changed")
        env = {**self.repo.env, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
        process = subprocess.run(
            [".ci/run"], cwd=self.repo.path, env=env, capture_output=True, text=True, check=False
        )
        file.write_text("", "utf-8")
        assert process.returncode == 0, process.stdout + process.stderr
        return set(self.started.read_text("utf-8").split()), process.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("ci"))


def test_a_change_of_documents_starts_no_target_and_all_are_named(checkout: Checkout) -> None:
    started, printed = checkout.run("README.md")
    assert started == ALWAYS
    (left_out,) = re.findall(r"^Left out: (.*)$", printed, re.MULTILINE)
    assert set(left_out.split(", ")) == {f"make {target}" for target in {*TARGETS.values()} - ALWAYS}
    assert "=== pytest\n== 1 passed in 1.00s ==\n" in printed


@pytest.mark.wide
def test_a_change_of_a_room_starts_the_targets_whose_tests_drive_it(
    checkout: Checkout, pytestconfig: pytest.Config
) -> None:
    driven: dict[str, set[str]] = {}
    for item in pytestconfig.stash[COLLECTED]:
        for mark in {mark.name for mark in item.iter_markers()} & TARGETS.keys():
            driven.setdefault(TARGETS[mark], set()).update(_rooms(item.path))
    rooms = set().union(*driven.values()) - NOT_DRIVEN
    missing = {}
    for room in sorted(rooms):
        path = f"schemalint/{room}"
        started, _printed = checkout.run(
            f"{path}.py" if (ROOT / f"{path}.py").exists() else f"{path}/__init__.py"
        )
        expected = {target for target, of_target in driven.items() if room in of_target} - NIGHTLY
        if expected - started:
            missing[room] = expected - started
    assert missing == {}, ".ci/run lists the room for no such target"


def _rooms(file: Path) -> Iterator[str]:
    """Yield the rooms of schemalint that a test imports."""
    for statement in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(statement, ast.ImportFrom) and statement.module:
            package, _, inside = statement.module.partition(".")
            if package == "schemalint":
                yield from [inside.partition(".")[0]] if inside else [alias.name for alias in statement.names]
