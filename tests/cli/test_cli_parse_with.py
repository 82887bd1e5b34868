"""`check --parse-with spark`: Spark's verdict about the expressions of a change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from support.review import Review

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.project import Project

TABLE: Final = "schemalint: 1\ntable: t\ncolumns: [{name: id, type: int}]\nprotocol: {allow_upgrade: true}\n"
CHANGED: Final = TABLE + 'constraints: {wrong: "abs(id, 1) > 0"}\n'


@pytest.mark.spark
def test_what_spark_refuses_is_a_finding_of_its_rule(project: Project, spark: SparkSession) -> None:
    assert spark is not None  # the command finds the session that runs
    project.repo.write("schemalint.toml", "")
    project.repo.write("t.yml", TABLE)
    project.repo.commit()
    project.repo.write("t.yml", CHANGED)
    assert "NC026" not in project.check().codes
    run = project.check("--parse-with", "spark")
    assert "NC026" in run.codes
    assert "NC012" not in run.codes  # "schemalint cannot parse it" gives way
    assert "NC026 error Spark refuses the constraint wrong (WRONG_NUM_ARGS" in run.out


def test_without_the_option_pyspark_is_not_loaded(project: Project) -> None:
    project.repo.write("t.yml", CHANGED)
    loaded = "pyspark" in sys.modules
    project.check("--verbose")
    assert ("pyspark" in sys.modules) == loaded


def test_verbose_counts_what_the_offline_model_does_not_know(project: Project) -> None:
    project.repo.write("t.yml", CHANGED)
    assert "note: the offline model knows no type of 1 of 1 expression" in project.check("--verbose").err


def test_options_of_a_session_need_one(project: Project) -> None:
    project.repo.write("t.yml", TABLE)
    assert "has no effect without Spark" in project.check("--master", "local[1]").err


def test_a_session_reads_nothing_of_a_fork(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fork = {"base": {"id": 1}, "head": {"id": 2}}
    review = Review(project, monkeypatch, tmp_path)
    run = review.check({}, {"t.yml": CHANGED}, "--parse-with", "spark", repositories=fork)
    assert run.status == 2
    assert "--parse-with spark hands expressions of the contracts to a session, and" in run.err + run.out
    assert "it comes from a fork" in run.err + run.out


def test_no_session_starts_from_the_configuration_of_the_change(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    review = Review(project, monkeypatch, tmp_path)
    own = {"base": {"id": 1}, "head": {"id": 1}}
    head = {"t.yml": CHANGED, "schemalint.toml": '[spark]\nmaster = "spark://evil"\n'}
    run = review.check({}, head, "--parse-with", "spark", repositories=own)
    assert run.status == 2
    assert "the base has none" in run.err + run.out
