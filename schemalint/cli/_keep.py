"""Findings kept in a Delta table."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from schemalint.engine.place import absolute_location
from schemalint.errors import SchemalintError, UsageError
from schemalint.planner.sql import named_table, path_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.cli._sparkoptions import Spark
    from schemalint.cli._tables import Asked
    from schemalint.model.finding import Problems
    from schemalint.spark.audit import Session
    from schemalint.spark.findings import AuditRun

_PLACE: Final = re.compile(r"[/\\]|^\.")


@dataclass(frozen=True, slots=True)
class Keeper:
    """The table that the findings of a run are appended to.

    Attributes:
        table: As SQL names it.
    """

    session: Session
    table: str
    run: AuditRun

    def keep(self, result: Problems) -> Problems:
        """Append the findings; if that fails, the result has one error more."""
        from schemalint.spark.findings import append  # noqa: PLC0415

        try:
            rows = append(self.session, self.table, result, self.run)
        except SchemalintError as error:
            return replace(result, errors=(*result.errors, error))
        click.echo(f"run {self.run.id}: {rows} rows in {self.table}", err=True)
        return result


def keeper_for(spark: Spark | None, asked: Sequence[Asked], options: dict[str, Any]) -> Keeper | None:
    """What keeps the findings, its table ready; None if they are not to be kept.

    Raises:
        UsageError: There is a run without a table, or a table is audited in two versions.
        ApplyError: The table cannot be created, or does not fit.
    """
    into, run_id = options["into"], options["run_id"]
    if into is None or spark is None:
        if run_id is not None:
            raise UsageError("--run-id: the findings of this run are not kept", help="add --into TABLE")
        return None
    twice = [name for name, count in Counter(one.table or one.uri for one in asked).items() if count > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice: --into keeps one version of a table")
    from schemalint.spark.findings import AuditRun, make_ready  # noqa: PLC0415

    table, session = _named(into), spark.session
    make_ready(session, table)
    return Keeper(session, table, AuditRun(run_id or str(uuid.uuid4()), dt.datetime.now(tz=dt.UTC)))


def _named(table: str) -> str:
    """A path or a name, as SQL has it."""
    if _PLACE.search(table):
        return path_table(absolute_location(table, Path.cwd()))
    try:
        return named_table(table)
    except ValueError as error:
        raise UsageError(
            f"--into {table}: {error}", help="a name like main.ops.findings, or a path"
        ) from None
