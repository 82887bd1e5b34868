"""What `apply` asks of the rows before it adds a constraint, and what Delta does when it is added."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.base.errors import ApplyError
from schemalint.deploy.prepare import prepare_requested
from schemalint.deploy.results import Outcome
from schemalint.planner.statements import path_table
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.prechecks import require_accepted, require_clean
from schemalint.spark.session_catalog import SessionCatalog
from schemalint.spark.session_settings import session_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

TABLE: Final = """\
schemalint: 1
table: sales.orders
columns: [{name: id, type: int}, {name: note, type: string}]
"""
PROPERTY: Final = f"schemalint.tests.constraint.{os.getpid()}"
RUNS_JAVA: Final = f"reflect('java.lang.System', 'setProperty', '{PROPERTY}', note) <> '?'"


class Listening:
    """A session that notes its statements."""

    def __init__(self, session: SparkSession, ran: list[str]) -> None:
        self._session, self._ran = session, ran

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (all else is the session's)
        return getattr(self._session, name)

    def sql(self, statement: str) -> Any:  # noqa: ANN401 (a DataFrame)
        self._ran.append(statement)
        return self._session.sql(statement)


@pytest.mark.spark
@pytest.mark.each_time
def test_a_constraint_that_runs_java_is_evaluated_by_the_engine_alone(lakehouse: Lakehouse) -> None:
    lakehouse.declare(TABLE)
    assert lakehouse.apply().outcome is Outcome.APPLIED
    lakehouse.insert("(1, 'ran'), (2, 'ran')")
    lakehouse.declare(f'{TABLE}constraints: {{positive: "id > 1", java: "{RUNS_JAVA}"}}\n')
    repository = git.open_repository(lakehouse.repo.path, os.environ)
    via = SessionCatalog(lambda: lakehouse.session)
    deployment = prepare_requested(repository, find_trusted(repository, os.environ), ApplyOptions(), via=via)
    (plan,) = deployment.plan.tables
    ran: list[str] = []
    session: Any = Listening(lakehouse.session, ran)
    table = path_table(plan.uri)
    with session_catalog(lakehouse.session):
        require_accepted(session, plan, table)
        with pytest.raises(ApplyError, match="1 row against positive"):
            require_clean(session, plan, table)
    assert [text.split()[0] for text in ran if "reflect" in text] == ["EXPLAIN"]
    assert property_of(lakehouse) is None

    lakehouse.sql(f"ADD CONSTRAINT java CHECK ({RUNS_JAVA})")
    assert property_of(lakehouse) == "ran"


def property_of(lakehouse: Lakehouse) -> str | None:
    """Return the property of the JVM, asked without the expression under test."""
    value = lakehouse.session.sparkContext._jvm.java.lang.System.getProperty(PROPERTY)  # noqa: SLF001 (py4j)
    return None if value is None else str(value)
