"""Before `apply` creates a table, it asks the catalog which features the table will have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import ApplyError, LiveError
from schemalint.base.values import replace
from schemalint.delta.table import TableState
from schemalint.deploy.catalog_features import require_told_features
from schemalint.deploy.results import Outcome
from schemalint.model.contract import Contract
from schemalint.model.table_plan import TablePlan
from schemalint.spark.statements import ask
from schemalint.tables import catalog
from support.faulty_sessions import Interrupted
from support.lakehouse import Lakehouse
from support.unity_server import LOAD_TABLE, Table, UnityServer

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.project.config.trust import TrustedTarget

CONTRACT = Contract("sales.orders", TableState())
PLAN = TablePlan("sales.orders", "main.sales.orders", "", name="main.sales.orders")
STAGING = "POST /delta/v1/catalogs/main/schemas/sales/staging-tables"
ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
"""


@pytest.fixture(autouse=True)
def may_stage(server: UnityServer) -> None:
    server.may_stage = True


def test_answer_of_the_catalog_has_the_features_of_the_plan(
    server: UnityServer, target: TrustedTarget
) -> None:
    require_told_features(PLAN, CONTRACT, target)
    assert STAGING in server.request_lines
    staged = catalog.staged_features("sales.orders", target)
    assert staged == catalog.open_catalog(target).created_features


@pytest.mark.parametrize("part", ["required", "suggested"])
@pytest.mark.parametrize(
    ("key", "added", "feature"),
    [
        ("protocol", {"reader-features": ["new"], "writer-features": ["new"]}, "new"),
        ("protocol", {"writer-features": ["typeWidening"]}, "typeWidening"),
        ("properties", {"delta.enableChangeDataFeed": "true"}, "changeDataFeed"),
    ],
)
def test_feature_beyond_the_plan_stops_the_table(
    server: UnityServer, target: TrustedTarget, part: str, key: str, added: dict[str, object], feature: str
) -> None:
    server.staged[f"{part}-{key}"] |= added
    with pytest.raises(ApplyError, match=f"the new table {feature}, which the plan does not show"):
        require_told_features(PLAN, CONTRACT, target)
    declared = replace(CONTRACT, state=replace(CONTRACT.state, features=frozenset({feature})))
    require_told_features(PLAN, declared, target)


def test_table_without_permission_is_stopped(server: UnityServer, target: TrustedTarget) -> None:
    server.fault = lambda path: (403, {}, b"{}") if path.endswith("/staging-tables") else None
    with pytest.raises(LiveError, match="the token has no permission") as stopped:
        require_told_features(PLAN, CONTRACT, target)
    assert "CREATE TABLE" in stopped.value.help


def test_table_that_another_run_has_created_is_not_compared(
    server: UnityServer, target: TrustedTarget
) -> None:
    server.tables["main.sales.orders"] = Table("/elsewhere")
    assert catalog.staged_features("sales.orders", target) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, "{}"), (200, f'{{"endpoints": ["{LOAD_TABLE}"], "protocol-version": "1.0"}}')],
)
def test_server_that_stages_no_tables_is_not_asked(
    server: UnityServer, target: TrustedTarget, status: int, body: str
) -> None:
    server.fault = lambda path: (status, {}, body.encode()) if path.endswith("/config") else None
    require_told_features(PLAN, CONTRACT, target)
    assert server.request_lines == ["GET /delta/v1/config"]


def test_existing_table_and_one_at_a_path_are_not_staged(server: UnityServer, target: TrustedTarget) -> None:
    require_told_features(replace(PLAN, live=CONTRACT.state), CONTRACT, target)
    require_told_features(replace(PLAN, name=None), replace(CONTRACT, location="/lake/orders"), target)
    assert server.requests == []


@pytest.mark.spark
def test_apply_creates_a_table_only_as_the_plan_tells(
    server: UnityServer, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session's catalog stands in for the connector; the server has the entry once the table exists."""
    monkeypatch.setenv("UC_TOKEN", "secret-token")
    lakehouse = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, lakehouse.repo.env[name])
    lakehouse.repo.write(
        "schemalint.toml",
        f'[targets.dev]\ncatalog = "spark_catalog"\ncatalog_uri = "{server.uri}"\n'
        'catalog_token = "${UC_TOKEN}"\n',
    )
    lakehouse.declare(ORDERS)
    server.schemas = {"spark_catalog.sales"}
    known = server.staged
    features = [*known["required-protocol"]["writer-features"], "typeWidening"]
    server.staged = {
        **known,
        "required-protocol": {**known["required-protocol"], "writer-features": features},
    }
    spark.sql(f"CREATE SCHEMA sales LOCATION '{tmp_path / 'sales'}'")
    try:
        stopped = lakehouse.apply()
        assert stopped.outcome is Outcome.REFUSED
        assert stopped.error is not None
        assert stopped.error.exit_status == 2
        assert "typeWidening, which the plan does not show" in stopped.error.message
        assert not ask(spark, "SHOW TABLES IN sales")

        server.staged = known

        def register(_number: int) -> None:
            server.tables["spark_catalog.sales.orders"] = Table(str(tmp_path / "sales/orders"))

        session = Interrupted(spark, after=register)
        created = lakehouse.apply(session)
        assert created.outcome is Outcome.APPLIED, created.error
        assert lakehouse.apply().outcome is Outcome.NOTHING
    finally:
        spark.sql("DROP SCHEMA sales CASCADE")
    staged = [line for line in server.request_lines if line.endswith("/staging-tables")]
    assert len(staged) == 2, "one for each run that would create the table"
