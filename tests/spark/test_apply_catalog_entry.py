"""`apply` on a table of a Unity Catalog server: afterwards the entry of the table shows what the log says.

The engine resolves the name in its own catalog, as no connector for Unity Catalog is installed; with one, it
leaves the entry of an external table as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.results import Outcome, warnings
from support.unity_server import Table, UnityServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
"""
ENTRY = "/delta/v1/catalogs/spark_catalog/schemas/sales/tables/orders"


@pytest.fixture
def server(
    spark: SparkSession, lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> Iterator[UnityServer]:
    """A server in which ``spark_catalog.sales.orders`` is registered."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("UC_TOKEN", "secret-token")
    spark.sql("CREATE SCHEMA sales")
    spark.sql(f"CREATE TABLE sales.orders (a INT) USING delta LOCATION '{lakehouse.uri}'")
    state = UnityServer(schemas={"spark_catalog.sales"})
    state.tables["spark_catalog.sales.orders"] = Table(f"file://{lakehouse.uri}")
    state.tables["spark_catalog.sales.orders"].columns = lakehouse.table().state.columns
    with serving(state):
        lakehouse.repo.write(
            "schemalint.toml",
            f'[targets.dev]\ncatalog = "spark_catalog"\ncatalog_uri = "{state.uri}"\n'
            'catalog_token = "${UC_TOKEN}"\n',
        )
        yield state
    spark.sql("DROP SCHEMA sales CASCADE")
    assert state.problems == []


@pytest.mark.each_time
def test_entry_shows_the_table_after_apply_and_a_refusal_is_a_warning(
    server: UnityServer, lakehouse: Lakehouse
) -> None:
    entry = server.tables["spark_catalog.sales.orders"]
    lakehouse.declare(f"{ORDERS}  - {{name: b, type: int, comment: new}}\n")
    applied = lakehouse.apply()
    assert (applied.outcome, warnings(applied)) == (Outcome.APPLIED, [])
    assert entry.columns == lakehouse.table().state.columns
    assert [line for line in server.request_lines if line.startswith("POST")] == [f"POST {ENTRY}"]

    def refuse_writes(path: str) -> tuple[int, dict[str, str], bytes] | None:
        body = b'{"error": {"type": "PermissionDeniedException", "message": "no MODIFY"}}'
        return (403, {}, body) if server.requests[-1].method == "POST" and path == ENTRY else None

    server.fault = refuse_writes
    lakehouse.declare(f"{ORDERS}  - {{name: b, type: int, comment: newer}}\n")
    refused = lakehouse.apply()
    assert refused.outcome is Outcome.APPLIED
    (warning,) = warnings(refused)
    assert warning.startswith("sales.orders is as declared, but the catalog may still show it as it was: ")
    assert "no MODIFY" in warning
    assert entry.columns != lakehouse.table().state.columns
