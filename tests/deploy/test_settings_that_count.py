"""In CI a deployment obeys the configuration of the base: approvals of plans, and ignored rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemalint.delta.datatype import LONG, STRING, Field
from schemalint.deploy.approvals import without_unapproved
from schemalint.deploy.deploy_input import DeployInput, Deployment
from schemalint.deploy.prepare import prepare
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.review.rulebook import rules_for_apply
from schemalint.tables.catalog.table_location import choose_target
from support.logs import commit_info, metadata, protocol, write_log
from support.repo import Repo

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
"""
WITH_UPGRADE = ORDERS + "properties: {delta.enableTypeWidening: true}\n"
EARLY = ORDERS.replace(
    "columns:\n", "columns:\n  - {name: old, type: string, deprecated: {remove_after: 2999-12-31}}\n"
)
MAPPED = "properties: {delta.columnMapping.mode: name}\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo = Repo(tmp_path / "repository")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    return repo


def _merge_request(repo: Repo, monkeypatch: pytest.MonkeyPatch, *settings: str, **texts: str) -> None:
    """Commit a base and a change; the keys are the contract and the configuration at each."""
    repo.write("schemalint.toml", settings[0])
    repo.write("orders.yml", texts["before"])
    base = repo.commit()
    repo.write("schemalint.toml", settings[1])
    repo.write("orders.yml", texts["after"])
    repo.commit()
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "1")


def _deployed(repo: Repo, base: str | None = None) -> Deployment:
    repository = git.open_repository(repo.path, os.environ)
    settings = find_trusted(repository, os.environ)
    head = git.find_head(repository, "HEAD", os.environ)
    rules = rules_for_apply(settings.config)
    target = choose_target(settings, None)
    request = DeployInput(repository, settings, target, head, rules, base=base, applies=True)
    return without_unapproved(prepare(request))


def _refused(deployment: Deployment) -> bool:
    (plan,) = deployment.plan.tables
    return bool(plan.refusals)


@pytest.mark.parametrize("approves", ["base", "change"])
def test_a_change_cannot_approve_its_own_plan(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, approves: str
) -> None:
    lake = f'[targets.dev]\nroot = "{tmp_path}"\n'
    write_log(
        tmp_path / "sales/orders", [[commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG))]]
    )
    repo.write("schemalint.toml", lake)
    repo.write("orders.yml", WITH_UPGRADE)
    repo.commit()
    assert _refused(_deployed(repo))

    approved = f'approved-plans = ["{_deployed(repo).plan_hash}"]\n{lake}'
    settings = (approved, lake) if approves == "base" else (lake, approved)
    _merge_request(repo, monkeypatch, *settings, before=ORDERS, after=WITH_UPGRADE)
    assert _refused(_deployed(repo)) == (approves == "change")


@pytest.mark.parametrize("ignores", ["base", "change"])
def test_a_change_cannot_ignore_a_rule_that_refuses_its_plan(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ignores: str
) -> None:
    lake = f'[targets.dev]\nroot = "{tmp_path}"\n'
    columns = (Field("old", STRING), Field("id", LONG))
    write_log(tmp_path / "sales/orders", [[commit_info("CREATE TABLE"), protocol(2, 5), metadata(*columns)]])
    ignoring = f'{lake}[[tables]]\nmatch = "*"\nignore = ["CT003"]\n'
    settings = (ignoring, lake) if ignores == "base" else (lake, ignoring)
    after = ORDERS + "dropped: [old]\n" + MAPPED
    _merge_request(repo, monkeypatch, *settings, before=EARLY + MAPPED, after=after)
    (plan,) = _deployed(repo, base="HEAD^").plan.tables
    assert ("CT003" in {refusal.code for refusal in plan.refusals}) == (ignores == "change")
