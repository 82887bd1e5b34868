"""Findings kept in a Delta table, and the Spark session of an audit."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
import uuid
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from schemalint.cli._sparkoptions import spark_settings
from schemalint.engine.place import absolute_location
from schemalint.errors import SchemalintError, UsageError
from schemalint.planner.sql import named_table, path_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.cli._tables import Asked
    from schemalint.config import SparkSettings
    from schemalint.model.finding import Problems
    from schemalint.spark.audit import Session
    from schemalint.spark.findings import AuditRun

_PLACE: Final = re.compile(r"[/\\]|^\.")


@contextmanager
def session_for(settings: SparkSettings, options: dict[str, Any]) -> Iterator[Session | None]:
    """A session if the command line asks for something that needs one.

    Raises:
        UsageError: It says which session, and for nothing; or there is no Spark here.
        ApplyError: Spark does not start.
    """
    if not options["via"] and not options["into"]:
        idle = [f"--{name}" for name in ("master", "remote", "conf") if options[name]]
        if idle:
            raise UsageError(f"{idle[0]}: nothing here needs Spark", help="add --via spark or --into TABLE")
        yield None
        return
    from schemalint.spark import session  # noqa: PLC0415 (Spark starts only when it is asked for)

    wanted = spark_settings(settings, options)
    if (wanted.master or "local").startswith("local"):
        # Spark's own choice is the python3 on the PATH, which may be another than this one.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    started = session.start(wanted)
    try:
        yield started
    finally:
        started.stop()


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


def keeper_for(session: Session | None, asked: Sequence[Asked], options: dict[str, Any]) -> Keeper | None:
    """What keeps the findings, its table ready; None if they are not to be kept.

    Raises:
        UsageError: There is a run without a table, or a table is audited in two versions.
        ApplyError: The table cannot be created, or does not fit.
    """
    into, run_id = options["into"], options["run_id"]
    if into is None or session is None:
        if run_id is not None:
            raise UsageError("--run-id: the findings of this run are not kept", help="add --into TABLE")
        return None
    twice = [name for name, count in Counter(one.table or one.uri for one in asked).items() if count > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice: --into keeps one version of a table")
    from schemalint.spark.findings import AuditRun, make_ready  # noqa: PLC0415

    table = _named(into)
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
