"""`schemalint init` in a dbt project: the configuration and the job, and no contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

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
    lines = [line.strip().removeprefix("- ").removeprefix("run: ") for line in text.splitlines()]
    parse = lines.index("dbt parse")
    assert lines[parse + 1].startswith(
        "schemalint check --base-from dbt:state/manifest.json --output-format "
    )
    assert not (fresh.repo.path / "contracts").exists()


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
