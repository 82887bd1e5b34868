"""What is loaded when, and what is public: a check has to start fast, and rules rely on one module."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from schemalint import plugin
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

# Runs the command line as `schemalint` does, then tells what came in.
PROBE = """\
import json, sys
from schemalint.cli import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""
ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n"

HEAVY = {"pyspark", "delta", "pyarrow", "ruamel", "pydantic", "obstore", "sqlglot", "dataclasses"}


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
        "schemalint.delta_log",
        "schemalint.storage",
        "schemalint.catalog",
        "schemalint.planner",
        "schemalint.spark",
        "schemalint.contract.fixes",
    )
    assert [name for name in unused if name in modules] == []


def test_a_plan_needs_no_spark(repo: Repo) -> None:
    repo.write("schemalint.toml", f'[targets.dev]\nroot = "{repo.path}/lake"\n')
    repo.commit()
    _status, modules = _loaded(repo, "plan")
    assert {"pyspark", "delta"} & modules == set()


def test_the_rules_api_loads_nothing_that_stands_above_it() -> None:
    code = "import sys, schemalint.plugin; print(*(m for m in sys.modules if m.startswith('schemalint.')))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    above = {
        "cli",
        "report",
        "fix",
        "spark",
        "deploy",
        "engine",
        "planner",
        "contract",
        "live",
        "git",
        "config",
    }
    assert {name.split(".")[1] for name in output.split()} & (above | {"delta_log", "document"}) == set()


# Rules of other people import these names: one can be added, none can go.
PUBLIC = """
Array at Atomic Change CHANGE_DATA_COLUMNS Char classify ClusteringChanged columns_used
CommentChanged ConstraintChanged Contract DataType Decimal DEFAULT_FEATURES DefaultChanged
DeletionListed DeletionUnlisted DescriptionChanged dotted Drift DriftKind DuplicateTable Fact
fault_of feature_requests FeatureChanged FeatureRequest FEATURES features_of_versions
FeatureVerdict Field field_at FieldAdded FieldMoved FieldRemoved FieldRenamed find_feature
find_property Fix folded GeneratedChanged has_statistics History HistoryEntry HistoryStep Identity
IdentityChanged implied_by invalid_characters is_container is_lost_if_altered is_protocol_key is_true
is_unrecorded_widening judge_feature judge_property lacks_writer_version least_decimal LiveTable
LiveTableMissing LiveTableReplaced LogDefect LogDefectKind Map MAX_PRECISION may_forget Metadata
minimum_versions narrows nearest_name needed_features NullabilityChanged ObjectRef OptionValue
parse_interval Part PartitioningChanged Path PhysicalTypes print_type Problem property_problem
property_value PropertyChanged PropertyVerdict Protocol ProtocolUpgrade record_of record_steps
RecordedChange RecordFault RecordStep RecordTypeChanges refusal replaces_contents RESERVED restores rule
Rule RuleContext same_stored Scope SetProperty Severity Standing statistics_columns Status step
StoredType String Struct suggest_feature suggest_property TableAdded TableFeature TableProperty
TableRemoved TableRetired TableState TIMESTAMP_NTZ TypeChanged TypeHistoryChanged TypeStep
TypeVerdict unknown_ways UNMANAGED Unmanaged uses value_refusal Varchar VOID walk walk_fields
without_quoted words
"""


def test_the_public_surface_is_what_it_is() -> None:
    assert sorted(plugin.__all__) == sorted(PUBLIC.split())
    assert all(hasattr(plugin, name) for name in plugin.__all__)
    assert len(set(plugin.__all__)) == len(plugin.__all__)
