"""Features that somebody switched on by hand, and that no contract declares: drift, for a night's run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import Action, add, commit_info, metadata, protocol, write_checkpoint, write_log
from support.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTRACT: Final = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"
TARGET: Final = '[targets.dev]\nroot = "lake"\n'
ID: Final = Field("id", LONG)
ENGINE: Final = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"
CREATED: Final[list[Action]] = [commit_info("CREATE TABLE"), protocol(), metadata(ID)]


def with_features(*names: str, readers: tuple[str, ...] = (), **properties: str) -> list[Action]:
    listed = ["appendOnly", "invariants", *readers, *names]
    return [
        commit_info("SET TBLPROPERTIES", userName="anna", engineInfo=ENGINE),
        protocol(3, 7, readers, listed),
        metadata(ID, properties=properties),
    ]


DELETION_VECTORS: Final = with_features(
    readers=("deletionVectors",), **{"delta.enableDeletionVectors": "true"}
)
WIDENING: Final = with_features(
    readers=("deletionVectors", "typeWidening"), **{"delta.enableTypeWidening": "true"}
)


def write_orders(project: Project, *commits: list[Action]) -> None:
    write_log(project.repo.path / "lake/sales/orders", commits)


def declare(project: Project, contract: str = CONTRACT, settings: str = "") -> None:
    project.repo.write("schemalint.toml", TARGET + settings)
    project.repo.write(".gitignore", "lake/\n")
    project.declare(contract)
    project.repo.commit()


def drift(project: Project, *command: str) -> list[dict[str, Any]]:
    command = command or ("check", "--live", "--all")
    report = json.loads(project.run(*command, "--output-format", "json").out)
    assert report["errors"] == []
    return [finding for finding in report["findings"] if finding["code"] == "DR001"]


@pytest.mark.parametrize(
    "command", [("check", "--live", "--all"), ("audit", "--target", "dev", "--all")], ids=["check", "audit"]
)
def test_features_switched_on_by_hand_are_warnings_with_who_did_it(
    project: Project, command: tuple[str, ...]
) -> None:
    declare(project)
    write_orders(project, CREATED, DELETION_VECTORS, [commit_info(), add()], WIDENING)
    found = {finding["object"]["name"]: finding for finding in drift(project, *command)}
    assert {name: finding["severity"] for name, finding in found.items()} == {
        "deletionVectors": "warning",
        "typeWidening": "warning",
    }
    message = found["typeWidening"]["message"]
    assert message.startswith(
        "feature typeWidening is supported in the live table, but no contract declares it"
    )
    assert message.endswith(
        f"changed in version 3 (SET TBLPROPERTIES, 2023-11-14 22:13:20 UTC, by anna) by {ENGINE}"
    )
    assert "features: [typeWidening]" in found["typeWidening"]["help"]


def test_the_night_run_is_not_green(project: Project) -> None:
    declare(project)
    write_orders(project, CREATED, DELETION_VECTORS)
    assert project.run("check", "--live", "--all", "--strict", "--fail-on", "warning").status == 1


@pytest.mark.parametrize(
    ("contract", "commits"),
    [
        (CONTRACT, [DELETION_VECTORS, [commit_info(), add()]]),
        (f"{CONTRACT}features: [deletionVectors]\n", [CREATED, DELETION_VECTORS]),
        (f"{CONTRACT}properties: {{delta.enableDeletionVectors: true}}\n", [CREATED, DELETION_VECTORS]),
        (f"{CONTRACT}features: [deletionVectors]\nopen: {{widening: true}}\n", [CREATED, WIDENING]),
        (CONTRACT, [CREATED, with_features("checkpointProtection")]),
        (CONTRACT, [CREATED]),
    ],
    ids=["created so", "requested", "needed", "open", "left by a drop", "as declared"],
)
def test_what_is_declared_or_there_since_the_creation_is_no_drift(
    project: Project, contract: str, commits: list[list[Action]]
) -> None:
    declare(project, contract)
    write_orders(project, *commits)
    assert drift(project) == []


def test_a_feature_older_than_the_log_may_be_there_since_the_creation_and_the_finding_says_so(
    project: Project,
) -> None:
    declare(project)
    table = project.repo.path / "lake/sales/orders"
    write_checkpoint(table, 4, DELETION_VECTORS[1:])
    write_log(table, [[commit_info(), add()], [commit_info(), add()]], first=4)
    (found,) = drift(project)
    assert found["message"].endswith(
        "the commit that changed it is not known (the log begins at version 4), so the table may have been "
        "created with it"
    )


def test_features_that_need_each_other_are_one_finding(project: Project) -> None:
    declare(project)
    write_orders(project, CREATED, with_features("rowTracking", "domainMetadata"))
    assert [finding["object"]["name"] for finding in drift(project)] == ["rowTracking"]


def test_of_what_a_version_of_the_protocol_implies_the_features_in_use_count(
    project: Project,
) -> None:
    declare(project)
    mapped = metadata(ID, properties={"delta.columnMapping.mode": "name"})
    write_orders(project, CREATED, [commit_info("SET TBLPROPERTIES"), protocol(2, 5), mapped])
    assert [finding["object"]["name"] for finding in drift(project)] == ["columnMapping"]
    raised = [commit_info("SET TBLPROPERTIES"), protocol(1, 3)]
    write_log(project.repo.path / "lake/sales/raised", [CREATED, raised])
    project.declare(CONTRACT.replace("orders", "raised"), "contracts/raised.yml")
    assert [finding["object"]["name"] for finding in drift(project)] == ["columnMapping", "checkConstraints"]


SHUT_OUT: Final = {
    "a reader": ('[consumers.ml]\nclient = "deltalake"\nversion = "0.15.0"\nread_path = "pyarrow"\n', "ml"),
    "a writer": ('apply_with = "delta-spark 4.4.0"\nwriters = ["delta-spark 3.1.0"]\n', "delta-spark 3.1.0"),
}


@pytest.mark.parametrize(("settings", "who"), SHUT_OUT.values(), ids=SHUT_OUT)
def test_a_feature_that_shuts_out_a_declared_reader_or_writer_is_an_error(
    project: Project, settings: str, who: str
) -> None:
    consumers = "consumers: [ml]\n" if "consumers" in settings else ""
    declare(project, CONTRACT + consumers, settings)
    write_orders(project, CREATED, DELETION_VECTORS, WIDENING)
    found = {finding["object"]["name"]: finding for finding in drift(project)}
    assert found["typeWidening"]["severity"] == "error"
    assert f"it shuts out {who}" in found["typeWidening"]["message"]
    assert project.run("plan").status != 1, "what happened stops no apply"


@pytest.mark.spark
def test_what_spark_adds_by_hand_names_spark(project: Project, spark: SparkSession) -> None:
    declare(project)
    table = f"delta.`{project.repo.path / 'lake/sales/orders'}`"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING delta")
    assert drift(project) == []
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES (delta.enableTypeWidening = true)")
    (finding,) = drift(project)
    assert finding["object"] == {"kind": "feature", "name": "typeWidening"}
    assert finding["message"].endswith(ENGINE)
