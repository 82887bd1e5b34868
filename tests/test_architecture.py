"""Loaded modules per command, and forbidden imports."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

# Runs the command line as `schemalint` does, then prints the loaded modules.
PROBE = """\
import json, sys
from schemalint.cli import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""
ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n"

HEAVY = {
    *("pyspark", "delta", "pyarrow", "ruamel", "pydantic", "obstore", "sqlglot", "dataclasses"),
    *("importlib.metadata", "email"),
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.write("orders.yaml", ORDERS)
    repo.commit()
    repo.write("orders.yaml", ORDERS.replace("type: int", "type: bigint"))
    return repo


def _loaded(repo: Repo, *arguments: str) -> tuple[int, set[str]]:
    run = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=repo.path,
        env=repo.env,
        capture_output=True,
        text=True,
        check=True,
    )
    status, modules = json.loads(run.stderr.splitlines()[-1])
    return status, set(modules)


def test_a_check_loads_nothing_heavy(repo: Repo) -> None:
    status, modules = _loaded(repo, "check")
    assert status == 1
    assert "schemalint_rules" in modules
    assert HEAVY & modules == set()


def test_a_check_loads_neither_the_log_nor_the_planner(repo: Repo) -> None:
    _status, modules = _loaded(repo, "check")
    unused = (
        "schemalint.tables.delta_log",
        "schemalint.tables.storage",
        "schemalint.tables.catalog",
        "schemalint.planner",
        "schemalint.spark",
        "schemalint.contract.fixes",
        # No table of these contracts has a consumer.
        "schemalint.clients",
        "schemalint.judge.client_losses",
        "schemalint.delta.streams",
        "schemalint.tables.streaming",
    )
    assert [name for name in unused if name in modules] == []


def test_a_check_loads_what_reads_settings_only_with_settings(repo: Repo) -> None:
    of_settings = {
        "tomllib",
        "schemalint.project.config.config_keys",
        "schemalint.project.config.consumer_keys",
    }
    _status, modules = _loaded(repo, "check")
    assert of_settings & modules == set()
    repo.write("schemalint.toml", "select = ['TW']\n")
    _status, modules = _loaded(repo, "check")
    assert of_settings - modules == set()


def test_a_check_without_findings_loads_nothing_that_edits_or_explains(repo: Repo) -> None:
    repo.write("orders.yaml", f"{ORDERS}  - {{name: note, type: string, comment: new}}\n")
    status, modules = _loaded(repo, "check")
    assert status == 0
    unused = {
        *(
            "schemalint.contract.contract_editor",
            "schemalint.contract.text_editor",
            "schemalint.contract.proof",
        ),
        *("schemalint.review.exception_findings", "schemalint.review.declared_tables"),
        *("schemalint.review.live_tables", "schemalint.judge.live_judge", "schemalint.judge.table_judge"),
        # No text of these contracts is of UTF-16 or UTF-32.
        *("encodings.utf_16_le", "encodings.utf_32_le"),
    }
    assert unused & modules == set()


def test_a_plan_needs_no_spark(repo: Repo) -> None:
    repo.write("schemalint.toml", f'[targets.dev]\nroot = "{repo.path}/lake"\n')
    repo.commit()
    _status, modules = _loaded(repo, "plan")
    assert {"pyspark", "delta"} & modules == set()


# One violation of each import contract, in a module that did not exist when the contract was written.
PLANTED = {
    "schemalint/review/planted.py": "import subprocess\n",
    "schemalint/judge/planted.py": "import yaml\n",
    "schemalint/guard/planted.py": "import subprocess\n",
    "schemalint/tables/table_json/planted.py": "import pyspark\n",
    "schemalint/delta/planted.py": "import click\n",
    "schemalint/project/git/planted.py": "from schemalint.cli import main\n",
    "schemalint/base/document/planted.py": "from schemalint.base.document import planted_too\n",
    "schemalint/base/document/planted_too.py": "from schemalint.base.document import planted\n",
    "schemalint/planted_room/__init__.py": "",
    "rules/schemalint_rules/tw/planted.py": "from schemalint.model.finding import Finding\n",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages and their settings; the tests add violations to the copy."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("schemalint", "rules"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_import_contracts_cover_new_modules(copy: Path) -> None:
    for name, text in PLANTED.items():
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text)
    run = subprocess.run(
        ["lint-imports", "--no-cache"],
        cwd=copy,
        env={**os.environ, "PATH": PATH, "PYTHONPATH": f"{copy}:{copy / 'rules'}", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    for name in PLANTED:
        (copy / name).unlink()
    assert "Contracts: 0 kept" in run.stdout, run.stdout + run.stderr
    modules = {
        name.removeprefix("rules/").removesuffix("/__init__.py").removesuffix(".py") for name in PLANTED
    }
    unreported = {
        name
        for name in modules
        if name.replace("/", ".").removeprefix("schemalint.base.document") not in run.stdout
    }
    assert unreported == set()


KIND = """

@frozen
class Planted:
    path: Path


TableChange: TypeAlias = (
    Planted
    |"""


# Each call gives settings of a checkout to something that connects, starts Spark or runs rule files.
UNTRUSTED = """
from pathlib import Path
from schemalint.tables import catalog
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.project.config import Config, Target
from schemalint.project.config.trust import resolve_storage
from schemalint.project.git import Worktree
from schemalint.review.live_tables import live_side
from schemalint.review.rulebook import rules_of
from schemalint.project.config.repository_config import Project
from schemalint.spark.session import start


def planted(project: Project, config: Config, target: Target) -> None:
    choose_target(config, None)
    resolve_storage(target)
    catalog.open_catalog(target)
    catalog.read("sales.orders", target)
    TargetTables(target, Path(), {})
    live_side(project, config, None, Worktree())
    start(config.spark)
    rules_of(config, config.plugins)
"""


@pytest.fixture(scope="module")
def mypy_output(copy: Path) -> str:
    """Run mypy once on a copy with a new kind of change, and with a module that uses untrusted settings."""
    module = copy / "schemalint/delta/change.py"
    text = module.read_text()
    assert text.count("\n\nTableChange: TypeAlias = (\n   ") == 1
    module.write_text(text.replace("\n\nTableChange: TypeAlias = (\n   ", KIND))
    untrusted = copy / "schemalint/deploy/planted.py"
    untrusted.write_text(UNTRUSTED)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "schemalint"],
        cwd=copy,
        env={**os.environ, "MYPYPATH": str(copy / "rules")},
        capture_output=True,
        text=True,
        check=False,
    )
    module.write_text(text)
    untrusted.unlink()
    return run.stdout


@pytest.mark.wide
def test_mypy_refuses_untrusted_settings(mypy_output: str) -> None:
    errors = [
        line for line in mypy_output.splitlines() if "deploy/planted.py" in line and "[arg-type]" in line
    ]
    assert len(errors) == UNTRUSTED.partition("def planted")[2].count("\n    "), "\n".join(errors)


# Executors get the settings of a trusted target from the driver.
MAY_TRUST = {"schemalint/project/config/trust.py", "schemalint/spark/executors.py"}


def test_only_one_module_makes_trusted_settings() -> None:
    makers = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("schemalint/**/*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _makes_trusted(node)
    }
    assert makers == MAY_TRUST


def _makes_trusted(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    replaces = name == "replace" and any(keyword.arg == "config" for keyword in call.keywords)
    return replaces or name in {"Trusted", "TrustedTarget", "TrustedSpark", "RuleFiles"}


@pytest.mark.wide
def test_mypy_reports_every_match_that_lacks_a_new_kind_of_change(mypy_output: str) -> None:
    reported_files = {line.partition(":")[0] for line in mypy_output.splitlines() if "Planted" in line}
    assert reported_files == {
        "schemalint/contract/contract_editor.py",
        "schemalint/delta/change_data.py",
        "schemalint/delta/patch.py",
        "schemalint/judge/finding_location.py",
        "schemalint/model/change_kind.py",
        "schemalint/model/impact.py",
        "schemalint/planner/refusals.py",
        "schemalint/planner/requirements.py",
        "schemalint/report/table/fields.py",
    }


MOST_FLOORS = 8
MOST_MODULES = 25
PUBLIC = ROOT / "schemalint/delta"  # its paths are API


def test_a_folder_can_be_read_at_a_glance() -> None:
    numbers = {
        folder: len([*folder.glob("*.py")]) for folder in ROOT.glob("schemalint/**/") if folder != PUBLIC
    }
    assert {folder for folder, number in numbers.items() if number > MOST_MODULES} == set()


@pytest.mark.parametrize("room", ["judge", "review"])
def test_a_room_has_few_floors_inside(room: str) -> None:
    """A reader meets the modules of a room one floor after the other: the longest chain of imports counts."""
    prefix = f"schemalint.{room}."
    below = {
        path.stem: {name.split(".")[2] for name in _imported(path) if name.startswith(prefix)}
        for path in (ROOT / "schemalint" / room).glob("*.py")
        if path.stem != "__init__"
    }

    def floor(module: str) -> int:
        return 1 + max((floor(other) for other in below[module] - {module}), default=0)

    assert max(map(floor, below)) <= MOST_FLOORS


def test_no_package_imports_a_private_module_of_another() -> None:
    """A module whose name begins with an underscore belongs to its package."""
    violations = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (*ROOT.glob("schemalint/**/*.py"), *ROOT.glob("rules/**/*.py"))
        for name in _imported(path)
        if "._" in name and not _is_within(path, name.partition("._")[0])
    ]
    assert violations == []


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name != "__version__")


def _is_within(path: Path, package: str) -> bool:
    return any(path.is_relative_to(top / package.replace(".", "/")) for top in (ROOT, ROOT / "rules"))
