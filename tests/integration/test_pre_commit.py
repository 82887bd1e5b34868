"""The hooks, run by pre-commit in real repositories; the hook environment is installed once for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.repo import Repo

# One worker of pytest-xdist, because installing the hook environment takes longest.
pytestmark = pytest.mark.xdist_group("pre-commit")

ROOT = Path(__file__).parents[2]
PRE_COMMIT = (sys.executable, "-m", "pre_commit")

# Variables of this test run, absent on a developer's machine.
FOREIGN = ("PYTEST_", "SCHEMALINT_", "VIRTUAL_ENV")

INT = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: int}
"""
BIGINT = INT.replace("int}", "bigint}")
WIDENED = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
properties: {delta.enableTypeWidening: true}
protocol: {allow_upgrade: true}
"""


@dataclass(frozen=True)
class Hooks:
    """A repository with this project's working tree, from which pre-commit installs the hooks."""

    repo: Repo
    cache: Path

    def config(self, hook: str) -> str:
        return f"repos: [{{repo: '{self.repo.path}', rev: {self.repo.head()}, hooks: [{{id: {hook}}}]}}]\n"


class Shop(Repo):
    """A user's repository outside CI, with the user's pip settings; its git commands may fail."""

    def __init__(self, path: Path, cache: Path) -> None:
        super().__init__(path)
        user_env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.env = {**self.env, **user_env, "PRE_COMMIT_HOME": str(cache)}

    def run(self, *command: str | Path) -> tuple[int, str]:
        """Run a command and return its status and output."""
        process = subprocess.run(
            command,
            cwd=self.path,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return process.returncode, process.stdout

    def try_commit(self) -> tuple[int, str]:
        self.git("add", "--all")
        return self.run("git", "commit", "--message=change")

    def install(self, config: str, *hook_types: str) -> None:
        self.write(".pre-commit-config.yaml", config)
        types = [f"--hook-type={hook_type}" for hook_type in hook_types or ("pre-commit",)]
        status, output = self.run(*PRE_COMMIT, "install", *types)
        assert status == 0, output


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    repo = Repo(tmp_path_factory.mktemp("hooks") / "schemalint")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (ROOT / name).is_file():
            (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, repo.path / name)
    repo.commit()
    return Hooks(repo, tmp_path_factory.mktemp("pre-commit"))


@pytest.fixture
def shop(hooks: Hooks, tmp_path: Path) -> Shop:
    shop = Shop(tmp_path / "shop", hooks.cache)
    shop.write("contracts/orders.yml", INT)
    shop.commit()
    shop.install(hooks.config("schemalint-check"))
    return shop


def test_a_narrowing_is_not_committed(shop: Shop) -> None:
    shop.write("contracts/orders.yml", BIGINT)
    shop.git("add", "--all")
    shop.git("commit", "--no-verify", "--quiet", "--message=as bigint")
    before = shop.head()
    shop.write("contracts/orders.yml", INT)
    status, output = shop.try_commit()
    assert status == 1
    assert "error[TW001 illegal-narrowing]: order_id changes from bigint to int" in output
    assert " --> contracts/orders.yml:4:28" in output
    assert shop.head() == before


def test_a_declared_widening_is_committed(shop: Shop) -> None:
    before = shop.head()
    shop.write("contracts/orders.yml", WIDENED)
    status, output = shop.try_commit()
    assert (status, "Passed" in output) == (0, True), output
    assert shop.head() != before


def test_the_index_is_checked_instead_of_the_working_tree(shop: Shop) -> None:
    shop.write("contracts/orders.yml", BIGINT)
    shop.git("add", "--all")
    shop.write("contracts/orders.yml", INT)
    status, output = shop.run("git", "commit", "--message=change")
    assert status == 1
    assert "TW006" in output
    assert (shop.path / "contracts/orders.yml").read_text() == INT


def test_a_deleted_contract_is_not_committed(shop: Shop) -> None:
    shop.git("rm", "--quiet", "contracts/orders.yml")
    status, output = shop.try_commit()
    assert status == 1
    assert "error[CT001 table-removed]" in output


def test_a_contract_that_cannot_be_read_is_not_committed(shop: Shop) -> None:
    shop.write("contracts/orders.yml", INT.replace("type: int", "type: integer4"))
    status, output = shop.try_commit()
    assert status == 1
    assert "exit code: 2" in output


def test_a_repository_without_contracts_can_commit(hooks: Hooks, tmp_path: Path) -> None:
    empty = Shop(tmp_path / "empty", hooks.cache)
    empty.install(hooks.config("schemalint-check"))
    empty.write("README.md", "no tables yet\n")
    status, output = empty.try_commit()
    assert (status, "Passed" in output) == (0, True), output


def test_a_push_is_compared_with_the_remote_branch(shop: Shop, hooks: Hooks, tmp_path: Path) -> None:
    Repo(tmp_path / "server.git", bare=True)
    shop.git("remote", "add", "origin", tmp_path / "server.git")
    shop.install(hooks.config("schemalint-check"), "pre-push")
    shop.git("push", "--quiet", "--no-verify", "origin", "main")
    shop.write("contracts/orders.yml", BIGINT)
    shop.git("add", "--all")
    shop.git("commit", "--no-verify", "--quiet", "--message=not checked")
    status, output = shop.run("git", "push", "origin", "main")
    assert status == 1
    assert "error[TW006 type-widening-not-enabled]" in output


def test_the_fix_hook_adds_missing_entries_and_then_passes(shop: Shop, hooks: Hooks) -> None:
    shop.install(hooks.config("schemalint-fix"))
    shop.write(
        "contracts/orders.yml",
        WIDENED.replace(", type_changes: [{from: int, to: bigint}]", "").replace(
            "properties: {delta.enableTypeWidening: true}\n", ""
        ),
    )
    status, output = shop.try_commit()
    assert status == 1
    assert "files were modified by this hook" in output
    status, output = shop.try_commit()
    assert (status, "Passed" in output) == (0, True), output
    committed = shop.git("show", "HEAD:contracts/orders.yml")
    assert "delta.enableTypeWidening: true" in committed
    assert "{from: int, to: bigint}" in committed


def test_try_repo_works_with_this_checkout(hooks: Hooks, shop: Shop) -> None:
    shop.write("contracts/orders.yml", BIGINT)
    shop.git("add", "--all")
    status, output = shop.run(*PRE_COMMIT, "try-repo", hooks.repo.path, "schemalint-check")
    assert status == 1
    assert "error[TW006 type-widening-not-enabled]" in output


def test_the_hook_manifest_is_valid() -> None:
    manifest = ROOT / ".pre-commit-hooks.yaml"
    process = subprocess.run(
        [*PRE_COMMIT, "validate-manifest", manifest], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
