"""The hooks, run by pre-commit in real repositories; the hook environment is installed once for all tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import metadata, protocol, write_checkpoint, write_log
from support.repo import Repo

pytestmark = pytest.mark.wide  # an environment of its own

ROOT = Path(__file__).parents[2]
PRE_COMMIT = (sys.executable, "-m", "pre_commit")

# Variables of this test run, absent on a developer's machine.
FOREIGN = ("PYTEST_", "SCHEMALINT_", "VIRTUAL_ENV")

ORDERS = "contracts/orders.yml"
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
FIXABLE = BIGINT + "protocol: {allow_upgrade: true}\n"
FIXED = FIXABLE.replace("bigint}", "bigint, type_changes: [{from: int, to: bigint}]}") + (
    "properties:\n  delta.enableTypeWidening: true\n"
)
NARROWED = "error[TW001 illegal-narrowing]"
NOT_ENABLED = "error[TW006 type-widening-not-enabled]"
REMOVED = "error[CT001 table-removed]"


@dataclass(frozen=True)
class Hooks:
    """A repository with this project's working tree, from which pre-commit installs the hooks.

    Attributes:
        template: A user's repository with the hook ``schemalint-check``, which the tests copy.
    """

    repo: Repo
    cache: Path
    template: Path

    def config(self, hook: str) -> str:
        return f"repos: [{{repo: '{self.repo.path}', rev: {self.repo.head()}, hooks: [{{{hook}}}]}}]\n"


class Shop(Repo):
    """A user's repository outside CI, with the user's pip settings; its commands may fail."""

    def __init__(self, path: Path, cache: Path) -> None:
        super().__init__(path)
        user_env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.cache = cache
        quick = {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.env = {**self.env, **user_env, **quick, "PRE_COMMIT_HOME": str(cache)}

    def run(self, *command: str | Path, folder: str = ".") -> tuple[int, str]:
        """Run a command and return its status and output."""
        process = subprocess.run(
            command,
            cwd=self.path / folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return process.returncode, process.stdout

    def pre_commit(self, *arguments: str | Path) -> tuple[int, str]:
        return self.run(*PRE_COMMIT, *arguments)

    def try_commit(self, *options: str | Path) -> tuple[int, str]:
        """Commit what is staged."""
        return self.run("git", "commit", "--message=change", *options)

    def commit_all(self) -> tuple[int, str]:
        self.git("add", "--all")
        return self.try_commit()

    def save(self, text: str, file: str = ORDERS) -> None:
        """Commit a text without the hook."""
        self.write(file, text)
        self.git("add", "--all")
        self.git("commit", "--no-verify", "--quiet", "--message=not checked")

    def use(self, config: str) -> None:
        self.write(".pre-commit-config.yaml", config)
        self.git("add", ".pre-commit-config.yaml")

    def text(self, file: str = ORDERS) -> str:
        return (self.path / file).read_text()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    folder = tmp_path_factory.mktemp("hooks")
    repo = Repo(folder / "schemalint")
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
    hooks = Hooks(repo, folder / "cache", folder / "template")
    shop = Shop(hooks.template, hooks.cache)
    shop.write(".pre-commit-config.yaml", hooks.config("id: schemalint-check"))
    shop.write(ORDERS, INT)
    shop.commit()
    status, output = shop.pre_commit("install", "--hook-type=pre-commit", "--hook-type=pre-push")
    assert status == 0, output
    return hooks


@pytest.fixture
def shop(hooks: Hooks, tmp_path: Path) -> Shop:
    shutil.copytree(hooks.template, tmp_path / "shop")
    return Shop(tmp_path / "shop", hooks.cache)


@pytest.fixture
def server(shop: Shop, tmp_path: Path) -> Repo:
    """The remote of the shop; nothing was pushed yet."""
    server = Repo(tmp_path / "server.git", bare=True)
    shop.git("remote", "add", "origin", server.path)
    return server


def _passed(result: tuple[int, str]) -> bool:
    status, output = result
    assert status == 0, output
    assert "Failed" not in output, output
    return "Passed" in output


def _failed(result: tuple[int, str], text: str) -> bool:
    status, output = result
    assert status == 1, output
    assert text in output, output
    return True


def test_a_narrowing_is_not_committed(shop: Shop) -> None:
    shop.save(BIGINT)
    before = shop.head()
    shop.write(ORDERS, INT)
    status, output = shop.commit_all()
    assert status == 1
    assert f"{NARROWED}: order_id changes from bigint to int" in output
    assert " --> contracts/orders.yml:4:28" in output
    assert shop.head() == before


def test_a_declared_widening_is_committed(shop: Shop) -> None:
    before = shop.head()
    shop.write(ORDERS, WIDENED)
    assert _passed(shop.commit_all())
    assert shop.head() != before


def test_the_index_is_checked_instead_of_the_working_tree(shop: Shop) -> None:
    shop.write(ORDERS, BIGINT)
    shop.git("add", "--all")
    shop.write(ORDERS, INT)
    assert _failed(shop.try_commit(), NOT_ENABLED)
    assert shop.text() == INT
    shop.write(ORDERS, WIDENED)
    shop.git("add", "--all")
    shop.write(ORDERS, BIGINT)
    assert _passed(shop.try_commit())
    assert shop.text() == BIGINT


def test_a_part_of_a_file_is_committed_by_itself(shop: Shop) -> None:
    """As `git add --patch` stages it: the widening of the first table, not that of the second."""
    second = INT.replace("sales.orders", "sales.returns")
    shop.save(f"{INT}---\n{second}")
    shop.write(ORDERS, f"{WIDENED}---\n{second}")
    shop.git("add", "--all")
    shop.write(ORDERS, f"{WIDENED}---\n{second.replace('int}', 'bigint}')}")
    assert _passed(shop.try_commit())
    assert _failed(shop.commit_all(), "(sales.returns)")


def test_a_deleted_contract_is_not_committed(shop: Shop) -> None:
    shop.git("rm", "--quiet", ORDERS)
    assert _failed(shop.try_commit(), REMOVED)


def test_a_renamed_file_is_committed_and_a_renamed_table_is_not(shop: Shop) -> None:
    shop.git("mv", ORDERS, "contracts/käufe und mehr.yml")
    assert _passed(shop.try_commit())
    shop.write("contracts/käufe und mehr.yml", INT.replace("orders", "purchases"))
    assert _failed(shop.commit_all(), REMOVED)


def test_paths_with_spaces_and_other_scripts_are_checked(shop: Shop) -> None:
    file = "contracts/日本 — \"quoted\" 'ñ'/orders 1.yaml"
    shop.save(INT.replace("orders", "mitarbeiter"), file)
    shop.write(file, INT.replace("orders", "mitarbeiter").replace("int}", "smallint}"))
    assert _failed(shop.commit_all(), f" --> {file}:4:28")


def test_commit_all_and_a_commit_of_one_path_check_what_they_commit(shop: Shop) -> None:
    """For both git gives the hook an index of its own."""
    other = "contracts/returns.yml"
    shop.save(INT.replace("orders", "returns"), other)
    shop.write(ORDERS, BIGINT)
    assert _failed(shop.try_commit("--all"), NOT_ENABLED)
    shop.git("add", "--all")
    shop.write(other, WIDENED.replace("orders", "returns"))
    assert _passed(shop.try_commit(other)), "the staged widening is not in this commit"
    assert _failed(shop.try_commit(ORDERS), NOT_ENABLED)
    assert _failed(shop.run("git", "commit", "--message=change", "--all", folder="contracts"), NOT_ENABLED)


def test_an_amended_commit_is_compared_with_the_one_before(shop: Shop) -> None:
    shop.write(ORDERS, WIDENED)
    assert _passed(shop.commit_all())
    shop.write(ORDERS, WIDENED + "owner: sales\n")
    shop.git("add", "--all")
    assert _passed(shop.try_commit("--amend"))


def test_the_first_commit_of_a_repository_is_checked(hooks: Hooks, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "new", hooks.cache)
    shutil.copytree(hooks.template / ".git/hooks", tmp_path / "new/.git/hooks", dirs_exist_ok=True)
    shop.use(hooks.config("id: schemalint-check"))
    shop.write(ORDERS, INT.replace("order_id", "'order id'"))
    assert _failed(shop.commit_all(), "invalid-column-name")
    shop.write(ORDERS, INT)
    assert _passed(shop.commit_all())


def test_a_contract_that_cannot_be_read_is_not_committed(shop: Shop) -> None:
    shop.write(ORDERS, INT.replace("type: int", "type: integer4"))
    assert _failed(shop.commit_all(), "exit code: 2")


def test_a_repository_without_contracts_can_commit(shop: Shop) -> None:
    shop.git("rm", "--quiet", ORDERS)
    shop.git("commit", "--no-verify", "--quiet", "--message=not checked")
    shop.write("README.md", "no tables yet\n")
    assert _passed(shop.commit_all())


@pytest.mark.usefixtures("server")
def test_a_merge_is_checked_for_its_own_changes(shop: Shop) -> None:
    """What the default branch narrowed is no finding of the merge; how a conflict is solved may be one."""
    returns = "contracts/returns.yml"
    shop.save(BIGINT.replace("orders", "returns"), returns)
    shop.git("switch", "--quiet", "--create", "feature")
    shop.save(INT + "owner: shop\n")
    shop.git("switch", "--quiet", "main")
    shop.save(INT.replace("orders", "returns"), returns)
    shop.save(INT + "owner: sales\n")
    shop.git("push", "--quiet", "--no-verify", "origin", "main")
    shop.git("remote", "set-head", "origin", "main")
    shop.git("switch", "--quiet", "feature")
    assert shop.run("git", "merge", "origin/main")[0] == 1, "there is a conflict"
    shop.write(ORDERS, INT.replace("int}", "smallint}"))
    assert _failed(shop.commit_all(), f"{NARROWED}: order_id changes from int to smallint")
    shop.write(ORDERS, INT + "owner: sales and shop\n")
    assert _passed(shop.commit_all())
    assert shop.text(returns) == INT.replace("orders", "returns")


def test_a_commit_during_a_rebase_is_checked(shop: Shop) -> None:
    shop.git("switch", "--quiet", "--create", "feature")
    shop.save(INT + "owner: sales\n")
    shop.git("switch", "--quiet", "main")
    shop.save(INT + "owner: shop\n")
    assert shop.run("git", "rebase", "main", "feature")[0] == 1, "there is a conflict"
    shop.write(ORDERS, BIGINT)
    assert _failed(shop.commit_all(), NOT_ENABLED)
    shop.write(ORDERS, INT + "owner: sales\n")
    assert _passed(shop.commit_all())
    assert shop.run("git", "rebase", "--continue")[0] == 0


def test_a_linked_worktree_and_a_submodule_are_checked_as_repositories(shop: Shop, tmp_path: Path) -> None:
    shop.git("worktree", "add", "--quiet", tmp_path / "linked")
    linked = Shop(tmp_path / "linked", shop.cache)
    linked.write(ORDERS, BIGINT)
    assert _failed(linked.commit_all(), NOT_ENABLED)
    assert shop.text() == INT
    outer = Shop(tmp_path / "outer", shop.cache)
    outer.git("submodule", "--quiet", "add", shop.path, "shop")
    shutil.copytree(shop.path / ".git/hooks", outer.path / ".git/modules/shop/hooks", dirs_exist_ok=True)
    inner = Shop(outer.path / "shop", shop.cache)
    inner.write(ORDERS, BIGINT)
    assert _failed(inner.commit_all(), NOT_ENABLED)


def test_one_deletion_among_two_thousand_contracts_is_noticed(shop: Shop) -> None:
    for number in range(2000):
        shop.write(f"contracts/t{number}.yml", INT.replace("orders", f"t{number}"))
    shop.save(INT)
    (shop.path / "contracts/t1234.yml").unlink()
    assert _failed(shop.commit_all(), "sales.t1234")


def test_a_range_of_commits_is_checked(shop: Shop) -> None:
    """As CI does it: what is checked out may be something else."""
    before = shop.head()
    shop.save(BIGINT)
    shop.git("tag", "widened")
    shop.save(INT)
    options = ("run", f"--from-ref={before}", "--to-ref")
    assert _failed(shop.pre_commit(*options, "widened"), NOT_ENABLED)
    assert _passed(shop.pre_commit(*options, "HEAD"))
    assert _failed(shop.pre_commit("run", "--from-ref=widened", "--to-ref=HEAD"), NARROWED)


def test_a_push_is_compared_with_the_remote_branch(shop: Shop, server: Repo) -> None:
    shop.git("push", "--quiet", "--no-verify", "origin", "main")
    before = server.head()
    shop.save(BIGINT)
    assert _failed(shop.run("git", "push", "origin", "main"), NOT_ENABLED)
    shop.save(WIDENED)
    assert _passed(shop.run("git", "push", "origin", "main"))
    assert server.head() != before
    forced = shop.run("git", "push", "--force", "origin", "HEAD~2:main")
    assert _passed(forced), "the remote has all that is pushed"
    assert server.head() == before


def test_a_new_branch_and_a_tag_are_pushed_as_they_are_and_a_deletion_without_a_check(
    shop: Shop, server: Repo
) -> None:
    shop.git("push", "--quiet", "--no-verify", "origin", "main")
    shop.git("switch", "--quiet", "--create", "feature")
    shop.save(BIGINT)
    shop.git("tag", "--annotate", "--message=annotated", "v1")
    shop.git("switch", "--quiet", "main")
    assert _failed(shop.run("git", "push", "origin", "feature"), NOT_ENABLED)
    assert _failed(shop.run("git", "push", "origin", "v1"), NOT_ENABLED)
    shop.git("push", "--quiet", "--no-verify", "origin", "feature")
    status, output = shop.run("git", "push", "origin", "--delete", "feature")
    assert status == 0, output
    assert server.git("branch", "--list").split() == ["*", "main"]


def test_the_first_push_of_all_checks_what_is_pushed(shop: Shop, server: Repo) -> None:
    """Then pre-commit names no commits; the branch is not checked out."""
    shop.git("switch", "--quiet", "--orphan", "other")
    shop.save(INT.replace("order_id", "'order id'"))
    shop.git("switch", "--quiet", "main")
    assert _failed(shop.run("git", "push", "origin", "other"), "invalid-column-name")
    assert _passed(shop.run("git", "push", "origin", "main"))
    assert server.head() == shop.head()


def test_the_fix_hook_adds_missing_entries_and_then_passes(shop: Shop, hooks: Hooks) -> None:
    shop.use(hooks.config("id: schemalint-fix"))
    shop.write(ORDERS, FIXABLE)
    assert _failed(shop.commit_all(), "files were modified by this hook")
    assert shop.git("show", f":{ORDERS}") == FIXABLE.strip(), "whoever commits stages the fix"
    assert _passed(shop.commit_all())
    assert shop.git("show", f"HEAD:{ORDERS}") == FIXED.strip()


def test_the_fix_hook_leaves_what_is_not_in_the_commit(shop: Shop, hooks: Hooks) -> None:
    shop.use(hooks.config("id: schemalint-fix"))
    shop.write("contracts/draft.yml", "schemalint: 1\ntable: [draft\n")
    shop.save(INT.replace("orders", "returns"), "contracts/returns.yml")
    shop.git("rm", "--quiet", "--cached", "contracts/draft.yml")
    shop.git("commit", "--no-verify", "--quiet", "--message=not checked")
    shop.write(ORDERS, FIXABLE)
    shop.git("add", ORDERS)
    unstaged = INT.replace("orders", "returns").replace("int}", "smallint}")
    shop.write("contracts/returns.yml", unstaged)
    status, output = shop.try_commit()
    assert status == 1
    assert "files were modified by this hook" in output
    assert "draft" not in output
    assert (shop.text(), shop.text("contracts/returns.yml")) == (FIXED, unstaged)
    shop.git("add", ORDERS)
    assert _passed(shop.try_commit())


def test_a_fix_that_collides_with_unstaged_text_is_taken_back(shop: Shop, hooks: Hooks) -> None:
    shop.use(hooks.config("id: schemalint-fix"))
    shop.write(ORDERS, FIXABLE)
    shop.git("add", "--all")
    unstaged = FIXABLE + "owner: sales\n"
    shop.write(ORDERS, unstaged)
    assert _failed(shop.try_commit(), "Rolling back fixes")
    assert (shop.text(), shop.git("show", f":{ORDERS}")) == (unstaged, FIXABLE.strip())


def test_the_fix_hook_works_for_one_path_and_in_a_linked_worktree(
    shop: Shop, hooks: Hooks, tmp_path: Path
) -> None:
    shop.use(hooks.config("id: schemalint-fix"))
    shop.git("commit", "--no-verify", "--quiet", "--message=not checked")
    shop.git("worktree", "add", "--quiet", tmp_path / "linked")
    for checkout in (shop, Shop(tmp_path / "linked", shop.cache)):
        checkout.write(ORDERS, FIXABLE)
        assert _failed(checkout.try_commit(ORDERS), "files were modified by this hook")
        assert checkout.text() == FIXED
        assert _passed(checkout.try_commit(ORDERS))


def test_a_push_is_compared_with_the_live_tables(shop: Shop, hooks: Hooks, server: Repo) -> None:
    """In the environment of the other hooks, which has no readers of Parquet: this log needs none."""
    write_log(shop.path / "lake/sales/orders", [[protocol(), metadata(Field("order_id", LONG))]])
    shop.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    shop.use(hooks.config("id: schemalint-live, additional_dependencies: []"))
    shop.save(WIDENED)
    shop.git("push", "--quiet", "--no-verify", "origin", "main")
    shop.write(ORDERS, WIDENED.replace("bigint, type_changes: [{from: int, to: bigint}]", "smallint"))
    assert _passed(shop.commit_all()) is False, "there is no check at commits"
    assert _failed(shop.run("git", "push", "origin", "main"), "against git and live")
    shop.save(WIDENED + "description: all orders\n")
    status, output = shop.run("git", "push", "origin", "main")
    assert status == 0, "a push that passes shows the report too"
    assert "in 1 table" in output, "a push that passes shows the report too"
    assert server.head() == shop.head()


def test_the_live_hook_brings_what_reads_parquet_with_it(shop: Shop, hooks: Hooks) -> None:
    table = shop.path / "lake/sales/orders"
    write_checkpoint(table, 0, [protocol(), metadata(Field("order_id", LONG))])
    shop.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    shop.write(ORDERS, BIGINT + "description: new\n")
    shop.git("add", "--all")
    status, output = shop.pre_commit("try-repo", hooks.repo.path, "schemalint-live", "--hook-stage=pre-push")
    assert status == 0, output
    assert "in 1 table" in output, output


def test_the_hook_manifest_is_valid() -> None:
    manifest = ROOT / ".pre-commit-hooks.yaml"
    process = subprocess.run(
        [*PRE_COMMIT, "validate-manifest", manifest], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_a_lake_that_init_adopts_is_protected_by_the_hook(shop: Shop, hooks: Hooks) -> None:
    shop.git("rm", "-rf", "--quiet", ".")
    shop.git("commit", "--no-verify", "--quiet", "--message=nothing of schemalint")
    shop.write(".gitignore", "lake/\n")
    shop.write(
        ".pre-commit-config.yaml", "fail_fast: true\nrepos:\n  - repo: meta\n    hooks: [{id: identity}]\n"
    )
    shutil.copytree(ROOT / "tests/delta_log/logs", shop.path / "lake")
    source = f"git+{hooks.repo.path}@{hooks.repo.head()}"
    command = (sys.executable, "-m", "schemalint", "init", "--source", source)
    status, output = shop.run(*command)
    assert status == 0, output
    printed = re.search(r"^( *)- repo: .*\n(?:\1  .*\n)+", output, re.MULTILINE)
    assert printed, output
    item = textwrap.indent(textwrap.dedent(printed[0]), "  ")
    shop.write(".pre-commit-config.yaml", shop.text(".pre-commit-config.yaml") + item)
    assert _passed(shop.commit_all())
    file = next(shop.path.glob("contracts/**/chars.yml"))
    file.write_text(file.read_text().replace("varchar(30)", "varchar(20)"))
    assert _failed(shop.commit_all(), "varchar(30)")
