"""A plan that was made for one engine, and the session of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.delta.engine import parse_engine
from schemalint.deploy.deploy_input import DeployInput
from schemalint.deploy.other_engine import require_same_answers
from schemalint.deploy.plan_file import read_plan_file
from schemalint.deploy.prepare import for_session, prepare
from schemalint.deploy.resume import ResumeInput, resume
from schemalint.project import git
from schemalint.project.config.trust import find_trusted, run_by
from schemalint.report import plan as plans
from schemalint.review.rulebook import rules_for_apply
from schemalint.tables.catalog.table_location import choose_target
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.deploy.deploy_input import Deployment

PLAIN = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: amount, type: bigint}\n"
GENERATED = f"{PLAIN}  - {{name: twice, type: bigint, generated: amount * 2}}\n"
WIDENING = f"{PLAIN}properties: {{delta.enableTypeWidening: true}}\n"
IN_STRUCTS = f"""{PLAIN}
  - name: s
    type: struct
    columns: [{{name: a, type: int, default: "1"}}, {{name: b, type: int, default: "2"}}]
features: [allowColumnDefaults]
"""


def planned(folder: Path, contract: str, engine: str | None) -> Deployment:
    """Plan a new table for a target with this engine."""
    repo = Repo(folder / "repository")
    named = "" if engine is None else f'engine = "{engine}"\n'
    repo.write("schemalint.toml", f'[targets.dev]\nroot = "lake"\n{named}')
    repo.write("contracts/orders.yml", contract)
    (repo.path / "lake").mkdir()
    repo.commit()
    repository = git.open_repository(repo.path, {})
    settings = find_trusted(repository, {})
    return prepare(
        DeployInput(
            repository,
            settings,
            choose_target(settings, None),
            git.find_head(repository, "HEAD", {}),
            rules_for_apply(settings.config),
        )
    )


@pytest.mark.parametrize(
    ("contract", "engine", "session", "said"),
    [
        (GENERATED, "delta-spark 4.4.0", "delta-spark 4.0.1", "is refused there, delta-spark 4.0.1"),
        (WIDENING, "delta-spark 4.0.1", "delta-spark 3.3.2", "gets other statements there than CREATE TABLE"),
        (
            IN_STRUCTS,
            "delta-spark 4.0.1",
            "delta-spark 3.3.2",
            "gets other statements there than ALTER TABLE",
        ),
        (WIDENING, None, "delta-spark 3.3.2", "was made for the newest Delta"),
    ],
)
def test_a_session_with_another_answer_is_refused(
    tmp_path: Path, contract: str, engine: str | None, session: str, said: str
) -> None:
    deployment = planned(tmp_path, contract, engine)
    with pytest.raises(UsageError) as error:
        require_same_answers(deployment, parse_engine(session))
    assert said in error.value.message
    assert f'`engine = "{session}"`' in error.value.help


@pytest.mark.parametrize(
    ("engine", "session", "note"),
    [
        ("delta-spark 3.3", "delta-spark 3.3.2", None),
        ("delta-spark 4.0.1", "delta-spark 4.0.1", None),
        ("fabric 1.3", "delta-spark 3.2.0", None),
        (None, "delta-spark 4.4.1", None),
        (None, "delta-spark 3.3.2", None),
        (
            "delta-spark 4.0.1",
            "delta-spark 3.3.2",
            "the session is delta-spark 3.3.2, not delta-spark 4.0.1: the plan is the same there",
        ),
    ],
)
def test_a_session_with_the_same_answers_is_at_most_told(
    tmp_path: Path, engine: str | None, session: str, note: str | None
) -> None:
    assert require_same_answers(planned(tmp_path, PLAIN, engine), parse_engine(session)) == note


def test_a_session_that_does_not_tell_its_engine_runs_the_plan(tmp_path: Path) -> None:
    assert require_same_answers(planned(tmp_path, WIDENING, "delta-spark 4.0.1"), None) is None


def test_without_a_named_engine_the_plan_is_for_that_of_the_session(tmp_path: Path) -> None:
    session = parse_engine("delta-spark 3.3.2")
    deployment = for_session(planned(tmp_path, WIDENING, None), lambda: session)
    (plan,) = deployment.plan.tables
    assert plan.steps[0].adds_features == {"typeWidening-preview"}
    assert (deployment.engine, require_same_answers(deployment, session)) == (session, None)


def test_a_plan_file_of_another_engine_is_refused(tmp_path: Path) -> None:
    deployment = planned(tmp_path, WIDENING, "delta-spark 4.0.1")
    file = tmp_path / "plan.json"
    file.write_text(plans.get("json").render(deployment), "utf-8")
    assert deployment.request is not None
    target = deployment.request.target
    folder = deployment.request.repository.root
    journal = ResumeInput(read_plan_file(str(file)), str(file), deployment.request.settings, target, folder)
    (same,) = resume(journal).plan.tables
    older = run_by(target, parse_engine("delta-spark 3.3.2"))
    (other,) = resume(replace(journal, target=older)).plan.tables
    assert (same.refusals, len(same.steps)) == ((), 1)
    assert [refusal.reason for refusal in other.refusals] == ["its steps are made for delta-spark 4.0.1"]


def test_a_rule_about_the_engine_refuses_a_plan_file(tmp_path: Path) -> None:
    deployment = planned(tmp_path, GENERATED, "delta-spark 4.4.0")
    file = tmp_path / "plan.json"
    file.write_text(plans.get("json").render(deployment), "utf-8")
    assert deployment.request is not None
    request = deployment.request
    older = run_by(request.target, parse_engine("delta-spark 4.0.1"))
    journal = ResumeInput(
        read_plan_file(str(file)), str(file), request.settings, older, request.repository.root
    )
    (plan,) = resume(journal).plan.tables
    assert [refusal.code for refusal in plan.refusals] == ["EN005"]
