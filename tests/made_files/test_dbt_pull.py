"""`schemalint pull --format dbt-yaml`: the YAML that declares the columns of live tables for dbt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from schemalint.delta.datatype import DATE, LONG, Decimal, Field, Struct
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.project import Project


def test_a_live_table_becomes_a_model_that_reads_back(project: Project) -> None:
    columns = (
        Field("order_id", LONG, nullable=False),
        Field("address", Struct((Field("balance", Decimal(10, 2)),))),
        Field("unit price", Decimal(12, 2), comment="Net: of tax"),
        Field("day", DATE),
    )
    created = metadata(*columns, properties={"delta.columnMapping.mode": "name"})
    write_log(project.repo.path / "lake/sales/orders", [[commit_info("CREATE TABLE"), protocol(), created]])
    run = project.run("pull", "lake/sales/orders", "--table", "sales.orders", "--format", "dbt-yaml")
    assert run.status == 0
    assert yaml.safe_load(run.out) == {
        "models": [
            {
                "name": "orders",
                "config": {"contract": {"enforced": True}},
                "columns": [
                    {"name": "order_id", "data_type": "bigint", "constraints": [{"type": "not_null"}]},
                    {"name": "address", "data_type": "struct<balance: decimal(10,2)>"},
                    {
                        "name": "unit price",
                        "quote": True,
                        "data_type": "decimal(12,2)",
                        "description": "Net: of tax",
                    },
                    {"name": "day", "data_type": "date"},
                ],
            }
        ]
    }


def test_it_writes_no_file(project: Project) -> None:
    run = project.run("pull", "lake/sales/orders", "--format", "dbt-yaml", "--output", "orders.yml")
    assert run.status == 2


def test_a_contract_that_extends_another_one_is_not_brought_up_to_date(project: Project) -> None:
    created = metadata(Field("order_id", LONG))
    write_log(project.repo.path / "lake/sales/orders", [[commit_info("CREATE TABLE"), protocol(), created]])
    project.repo.write("schemalint.toml", '[targets.prod]\nroot = "lake"\n')
    file = project.declare("schemalint: 1\ntable: sales.orders\nextends: dbt\n")
    project.repo.commit()
    run = project.run("pull", "sales.orders")
    assert (run.status, "is declared by dbt" in run.err) == (2, True)
    assert "columns" not in file.read_text("utf-8")
    write_log(project.repo.path / "lake/sales/items", [[commit_info("CREATE TABLE"), protocol(), created]])
    assert project.run("pull", "lake/sales/items").status == 0
    assert project.run("pull", "lake/sales/orders").status == 2
