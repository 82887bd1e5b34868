"""`schemalint init` in a dbt project: the configuration and the job, and no contracts."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import pytest
import yaml

from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.project import Project
    from support.shop import Shop


@pytest.fixture
def fresh(shop: Shop) -> Shop:
    """The project before schemalint came."""
    (shop.repo.path / "schemalint.toml").unlink()
    shop.repo.commit()
    return shop


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_it_writes_the_configuration_and_the_job(fresh: Shop, service: str) -> None:
    run = fresh.run("init", "--ci", service, "--source", "schemalint==1.2.3")
    assert run.status == 0
    assert "dbt declares the tables" in run.out
    file = ".github/workflows/schemalint.yml" if service == "github" else ".gitlab-ci.yml"
    text = (fresh.repo.path / file).read_text("utf-8")
    assert yaml.safe_load(text)
    lines = [line.strip() for line in text.splitlines()]
    parse = lines.index("dbt parse")
    assert lines[parse - 2] == 'git worktree add --detach "$base" "$(schemalint check --show-base)"'
    assert lines[parse + 1].startswith('schemalint check --base-from "dbt:$base/target/manifest.json" --out')
    assert not (fresh.repo.path / "contracts").exists()


def test_a_pipeline_that_is_there_gets_the_job_to_add(fresh: Shop) -> None:
    fresh.repo.write(".gitlab-ci.yml", "stages: [build]\nbuild: {stage: build, script: [make]}\n")
    fresh.repo.commit()
    run = fresh.run("init", "--ci", "gitlab", "--source", "schemalint==1.2.3")
    job = yaml.safe_load(textwrap.dedent(run.err.partition("add this job\n")[2]))["schemalint"]
    assert (job["stage"], "\ndbt parse\n" in job["script"][-1]) == ("build", True)


def test_without_a_service_it_says_so_and_prints_what_another_one_runs(fresh: Shop) -> None:
    run = fresh.run("init")
    assert (run.status, "no job of CI was written" in run.err) == (0, True)
    assert 'git worktree add --detach "$base" "$(schemalint check --show-base)"\n' in run.err
    assert fresh.run("init", "--ci", "github").status == 0
    assert "dbt parse" in (fresh.repo.path / ".github/workflows/schemalint.yml").read_text("utf-8")


def test_a_project_with_packages_gets_them_before(fresh: Shop) -> None:
    fresh.repo.write("packages.yml", "packages: []\n")
    fresh.run("init", "--ci", "github")
    text = (fresh.repo.path / ".github/workflows/schemalint.yml").read_text("utf-8")
    assert text.count("dbt deps && dbt parse") == 2


def test_what_it_wrote_is_obeyed(fresh: Shop) -> None:
    fresh.run("init", "--ci", "none")
    fresh.repo.commit()
    fresh.column("orders", "amount")["data_type"] = "decimal(5,2)"
    fresh.parse()
    fresh.manifest["metadata"]["generated_at"] = "2099-01-01T00:00:00Z"
    assert fresh.check("--base-from", "dbt:../state/manifest.json").codes == ["TW003"]


def test_a_project_in_a_folder_has_its_manifest_there(project: Project) -> None:
    project.repo.write("analytics/dbt_project.yml", "name: shop\n")
    project.repo.commit()
    project.run("init", "--ci", "none")
    text = (project.repo.path / "schemalint.toml").read_text("utf-8")
    assert 'path = "analytics/target/manifest.json"' in text


@pytest.fixture
def lake(fresh: Shop) -> Shop:
    """The project beside a lake with a table of a model, one of a seed, and one that nothing declares."""
    fresh.repo.write(".gitignore", "target/\nlake/\n")
    fresh.repo.commit()
    for table in ("sales.db/orders", "sales.db/countries", "sales.db/by_hand"):
        created = [commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG))]
        write_log(fresh.repo.path / "lake" / table, [created])
    return fresh


def test_with_a_root_only_tables_that_no_model_makes_get_a_contract(lake: Shop) -> None:
    run = lake.run("init", "--root", "lake", "--ci", "github", "--source", "schemalint==1.2.3")
    assert (run.status, "3 tables declared, 2 of them by dbt" in run.out) == (0, True)
    contracts = [path.name for path in lake.repo.path.glob("contracts/**/*.yml")]
    assert contracts == ["by_hand.yml"]
    assert not (lake.repo.path / ".pre-commit-config.yaml").exists()
    assert "dbt parse" in (lake.repo.path / ".github/workflows/schemalint.yml").read_text("utf-8")
    lake.repo.commit()
    lake.column("orders", "amount")["data_type"] = "decimal(5,2)"
    lake.parse()
    assert lake.check("--base-from", "dbt:../state/manifest.json").codes == ["TW003"]


def test_a_model_with_a_location_of_its_own_is_found_there(lake: Shop) -> None:
    (lake.repo.path / "lake/sales.db/orders").rename(lake.repo.path / "lake/raw_orders")
    lake.model("orders")["config"]["location_root"] = f"file://{lake.repo.path}/lake/"
    lake.model("orders")["alias"] = "raw_orders"
    lake.parse()
    run = lake.run("init", "--root", "lake", "--ci", "none")
    assert (run.status, "3 tables declared, 2 of them by dbt" in run.out) == (0, True)
    assert [path.name for path in lake.repo.path.glob("contracts/**/*.yml")] == ["by_hand.yml"]


def test_a_lake_of_dbt_alone_needs_no_contract(lake: Shop) -> None:
    shutil.rmtree(lake.repo.path / "lake/sales.db/by_hand")
    run = lake.run("init", "--root", "lake", "--ci", "none")
    assert (run.status, "2 tables declared, 2 of them by dbt" in run.out) == (0, True)
    assert not (lake.repo.path / "contracts").exists()


def test_with_a_root_the_manifest_must_be_there(lake: Shop) -> None:
    (lake.repo.path / "target/manifest.json").unlink()
    run = lake.run("init", "--root", "lake", "--ci", "none")
    assert (run.status, "run `dbt parse` before" in run.err) == (2, True)
    assert not (lake.repo.path / "contracts").exists()
