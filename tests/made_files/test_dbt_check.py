"""`schemalint check` in a dbt project: base and head, trust, age, positions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.shop import Shop

BASE = ("--base-from", "dbt:../state/manifest.json")


def test_an_unchanged_project_has_no_findings_and_says_what_is_not_compared(shop: Shop) -> None:
    run = shop.check(*BASE)
    assert (run.status, run.codes) == (0, [])
    assert "not compared: 1 ephemeral, 1 model in parquet, 1 seed, 1 view, 3 models without an" in run.err
    assert "and not named in `models`" in run.err


def test_a_finding_points_into_the_yaml_and_names_the_readers(shop: Shop) -> None:
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    run = shop.check(*BASE)
    assert run.out.startswith("models/schema.yml:12:20: TW003 error")
    assert "read by dashboard revenue_board (Finance)" in shop.run("check", *BASE).out


def test_a_model_is_the_same_table_in_the_schema_of_the_pull_request(shop: Shop) -> None:
    """It pairs by its unique id, and keeps the name that the base gives it."""
    for node in shop.manifest["nodes"].values():
        node["schema"] = "pr_17"
    shop.column("orders", "customer")["name"] = "buyer"
    shop.parse()
    report = shop.compare()
    assert {(finding["code"], finding["table"]) for finding in report["findings"]} == {
        ("CM003", "sales.orders")
    }


def test_a_table_that_somebody_alters_before_its_build_is_approved(shop: Shop) -> None:
    shop.model("orders_replaced")["config"]["tblproperties"] = {"delta.appendOnly": "true"}
    shop.parse("../state/manifest.json")
    shop.model("orders_replaced")["config"]["tblproperties"] = {}
    shop.parse()
    assert "RB009" in shop.check(*BASE).codes
    entry = "table: sales.orders_replaced, rule: RB009, property: delta.appendOnly, from: 'true'"
    shop.repo.write(
        "exceptions.yaml",
        f"schemalint_exceptions: 1\nexceptions: [{{{entry}, via: rewrite, reason: altered by hand}}]\n",
    )
    run = shop.check(*BASE)
    assert (run.status, "RB009" in run.codes) == (0, False)


def test_a_removed_model_is_a_removed_table(shop: Shop) -> None:
    del shop.manifest["nodes"]["model.shop.orders"]
    shop.parse()
    report = shop.compare()
    assert [(finding["code"], finding["table"]) for finding in report["findings"]] == [
        ("CT001", "sales.orders")
    ]


def test_a_new_model_is_a_new_table(shop: Shop) -> None:
    node = json.loads(json.dumps(shop.model("payments")))
    shop.manifest["nodes"]["model.shop.fees"] = {
        **node, "unique_id": "model.shop.fees", "name": "fees", "alias": "fees"
    }  # fmt: skip
    shop.parse()
    report = shop.compare()
    assert (report["findings"], report["run"]["compared"]) == ([], ["sales.fees"])


def test_where_git_has_both_manifests_the_revisions_are_compared(shop: Shop) -> None:
    shop.repo.write(".gitignore", "")
    shop.repo.commit()
    shop.column("orders", "order_id")["data_type"] = "int"
    shop.parse()
    assert shop.check().codes == ["TW001"]
    shop.repo.commit()
    assert shop.check("--against", "HEAD~1", "--head", "HEAD").codes == ["TW001"]
    assert shop.check().codes == []


def test_without_a_base_nothing_is_compared_and_that_is_said(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shop.check()
    assert "the base has no target/manifest.json: give --base-from dbt:FILE" in run.out
    assert run.status == 2
    assert shop.check("--allow-none").status == 0, "a hook goes on"
    monkeypatch.setenv("CI", "true")
    assert shop.check("--against", "HEAD").status == 2


def test_without_a_head_the_run_in_ci_fails(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop.repo.path / "target/manifest.json").unlink()
    run = shop.check(*BASE)
    assert (run.status, "target/manifest.json does not exist: run dbt parse" in run.out) == (2, True)
    monkeypatch.setenv("CI", "true")
    run = shop.check(*BASE, "--against", "HEAD")
    assert (run.status, "run dbt parse before schemalint check" in run.out + run.err) == (2, True)


def test_both_files_can_be_named(shop: Shop) -> None:
    shop.column("orders", "order_id")["data_type"] = "int"
    shop.parse("elsewhere.json")
    assert shop.check(*BASE, "--head-from", "dbt:elsewhere.json").codes == ["TW001"]


def test_a_base_that_the_change_brings_does_not_count_in_ci(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.parse("state/manifest.json")
    shop.repo.commit()
    given = ("--base-from", "dbt:state/manifest.json", "--against", "HEAD~1")
    assert shop.check(*given).status == 0
    monkeypatch.setenv("CI", "true")
    run = shop.check(*given)
    assert run.status == 2
    assert "--base-from names state/manifest.json, a file of the change itself" in run.out + run.err


def test_a_base_that_is_older_than_the_project_is_stale(shop: Shop) -> None:
    shop.manifest["metadata"]["generated_at"] = "2026-10-31T23:59:59Z"
    shop.parse("../state/manifest.json")
    run = shop.check(*BASE)
    assert run.status == 2
    assert "--base-from is older than the project" in run.out


@pytest.mark.parametrize("path", ["", "."])
def test_a_folder_is_no_file_of_declarations(shop: Shop, path: str) -> None:
    shop.repo.write("schemalint.toml", f'contracts = [{{path = "{path}", format = "dbt"}}]\n')
    run = shop.check("--against", "HEAD")
    assert run.status == 2
    assert "was not read: it is not a regular file" in run.out


def test_a_base_that_nobody_can_date_is_stale(shop: Shop) -> None:
    shop.repo.write(
        "schemalint.toml",
        'contracts = [{path = "target/manifest.json", format = "dbt", project = "without_sources"}]\n',
    )
    shop.repo.commit()
    shop.manifest["metadata"]["generated_at"] = "yesterday"
    shop.parse("../state/manifest.json")
    run = shop.check(*BASE)
    assert run.status == 2
    assert "made yesterday, changed at no time" in run.out


def test_a_base_of_a_commit_is_stale_if_the_project_differs_there(shop: Shop) -> None:
    made_from = shop.repo.head()
    shop.manifest["metadata"]["env"] = {"GIT_SHA": made_from}
    shop.manifest["metadata"]["generated_at"] = "2026-10-01T00:00:00Z"  # the commit says more
    shop.parse("../state/manifest.json")
    shop.repo.write("README.md", "not of the project")
    shop.repo.commit()
    assert shop.check(*BASE).status == 0
    shop.repo.write("models/orders.sql", "select 2 as order_id")
    shop.parse()
    shop.repo.commit()
    run = shop.check(*BASE)
    assert (run.status, f"--base-from is of commit {made_from[:12]}, and the project differs" in run.out) == (
        2,
        True,
    )


def test_a_base_of_an_unknown_commit_is_an_error(shop: Shop) -> None:
    shop.manifest["metadata"]["env"] = {"GIT_SHA": "1" * 40}
    shop.parse("../state/manifest.json")
    run = shop.check(*BASE)
    assert (run.status, "which this clone does not have" in run.out) == (2, True)


def test_manifests_of_two_projects_are_not_compared(shop: Shop) -> None:
    shop.manifest["metadata"]["project_name"] = "other"
    shop.parse()
    run = shop.check(*BASE)
    assert (run.status, "is of project 'other', and that of the base of 'shop'" in run.out) == (2, True)


@pytest.mark.parametrize(
    "value", ["manifest.json", "dbt:missing.json", "odbt:../state/manifest.json", "dbt:"]
)
def test_a_base_that_is_not_there_is_one_error(shop: Shop, value: str) -> None:
    assert shop.check("--base-from", value).status == 2


def test_a_manifest_over_the_limit_is_one_error(shop: Shop) -> None:
    shop.repo.write(
        "schemalint.toml", 'contracts = [{path = "target/manifest.json", format = "dbt", most_mib = 0}]\n'
    )
    run = shop.check(*BASE)
    assert (run.status, run.out.count("a limit of schemalint")) == (2, 1)


def test_models_and_columns_have_a_limit_of_their_own(shop: Shop) -> None:
    """What has no text takes memory too: 1 MiB allows 2,048 columns, a model counts as 8."""
    node, column = shop.model("orders"), shop.column("orders", "amount")
    node["columns"] |= {f"c{index}": {**column, "name": f"c{index}"} for index in range(1700)}
    shop.parse()
    mib = 'contracts = [{path = "target/manifest.json", format = "dbt", most_mib = 1}]\n'
    shop.repo.write("schemalint.toml", mib)
    assert shop.check(*BASE).status == 0
    node["columns"] |= {f"d{index}": {**column, "name": f"d{index}"} for index in range(300)}
    shop.parse()
    run = shop.check(*BASE)
    assert (run.status, run.out.count("this file has more than 2,048 columns")) == (2, 1)
    assert "raise most_mib" in shop.run("check", *BASE).out


def test_a_file_outside_of_the_repository_is_read_by_no_position(shop: Shop) -> None:
    """A manifest of the head is the change's own: what it names is read below the repository only."""
    secret = shop.repo.path.parent / "secret.yml"
    secret.write_text("models: [{name: orders, columns: [{name: amount, data_type: x}]}]\n", encoding="utf-8")
    shop.model("orders")["patch_path"] = "shop://../secret.yml"
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    run = shop.run("check", *BASE)
    assert "TW003" in run.out
    assert "data_type: x" not in run.out


POLICIES = """\
[options]
PO002.pattern = "[a-z_]+"
PO003.of = ["table", "column"]
PO005.types = {"decimal" = "decimal(38,9)"}
PO004.required = true
"""


def test_policies_judge_what_a_model_adds_where_it_is_written(shop: Shop) -> None:
    settings = shop.repo.path / "schemalint.toml"
    settings.write_text(f"{settings.read_text()}\n{POLICIES}")
    assert [code for code in shop.check(*BASE).codes if code.startswith("PO")] == []
    shop.column("orders", "customer")["name"] = "Buyer"
    shop.column("orders", "amount")["data_type"] = "decimal(20,2)"
    shop.parse()
    lines = [line for line in shop.check(*BASE).out.splitlines() if " PO" in line]
    assert [(line.split(" ")[0].rpartition(":")[0], line.split(" ")[1]) for line in lines] == [
        ("models/schema.yml:4:11", "PO002"),  # the YAML has no column of this name
        ("models/schema.yml:4:11", "PO003"),
        ("models/schema.yml:12:20", "PO005"),
    ]
