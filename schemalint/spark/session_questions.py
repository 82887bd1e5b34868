"""What commands that write nothing ask a session: rows of fills (``plan --prove``), and expressions.

An expression (``check --parse-with spark``) stands over an empty row, in no statement and without a catalog.
Spark parses it and resolves its names and types (``selectExpr`` and ``schema``: the analyzer). Neither the
optimizer, which computes constants, nor a job follows. Some functions compute an argument while Spark
analyses them, and some run code: an expression with one of them, or with what is not built in, is not sent.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from functools import lru_cache
from typing import Any, Final

from schemalint.base.errors import InternalError, SchemalintError
from schemalint.base.values import replace
from schemalint.delta.datatype import DataType, Struct, Unknown, field_at, walk
from schemalint.delta.expressions import contains_query, functions_called
from schemalint.delta.functions import FunctionKind, kind_of_function
from schemalint.delta.path import format_path
from schemalint.delta.schema_json import parse_schema, print_schema
from schemalint.delta.table import LiveTable
from schemalint.deploy.deploy_input import Deployment, FillProof
from schemalint.model.fact import SparkAnswer
from schemalint.model.table_plan import Fill, StepKind, TablePlan
from schemalint.planner.statements import named_table, path_table
from schemalint.spark.fills.fill import TableFills
from schemalint.spark.rewrites.proof import proof_of
from schemalint.spark.session_engine import require_delta
from schemalint.spark.session_settings import required_settings, session_catalog
from schemalint.spark.statements import SqlSession

_VALUES = frozenset({StepKind.FILL, StepKind.REWRITE})
_LONGEST_ANSWER: Final = 200
_MOST_CHARACTERS: Final = 10_000
"""Characters of an expression that is sent."""

# fmt: off
_NOT_SENT: Final = frozenset({
    # They run code, or fail on purpose.
    "reflect", "java_method", "try_reflect", "assert_true", "raise_error",
    # They compute an argument while Spark analyses them: a schema, a format, a number of values, a field.
    "approx_percentile", "date_part", "datepart", "extract", "from_avro", "from_csv", "from_json",
    "from_protobuf", "from_xml", "identifier", "inline", "json_tuple", "percentile", "percentile_approx",
    "schema_of_avro", "schema_of_csv", "schema_of_json", "schema_of_xml", "stack", "to_avro", "to_binary",
    "to_char", "to_number", "to_protobuf", "to_varchar", "try_to_binary", "try_to_number", "window",
    "session_window",
})
# fmt: on
_KINDS: Final = frozenset(
    {FunctionKind.ROW, FunctionKind.NOT_DETERMINISTIC, FunctionKind.SESSION, FunctionKind.MANY_ROWS}
)


def with_proofs(session: SqlSession, deployment: Deployment) -> Deployment:
    """Return a plan with what its fills and drops would find in the tables.

    Raises:
        ApplyError: The session has no Delta, or does not allow a setting that changes values.
    """
    plans = [plan for plan in deployment.plan.tables if _fills(plan) or plan.rewrite is not None]
    if not plans:
        return deployment
    require_delta(session)
    with required_settings(session, kinds=_VALUES), ExitStack() as catalog:
        if any(plan.name is None for plan in plans):
            catalog.enter_context(session_catalog(session))
        proofs = {plan.table: tuple(_proof(session, plan, fill) for fill in _fills(plan)) for plan in plans}
        rewrites = {
            plan.table: proof_of(
                _table(session, plan),
                plan,
                plan.rewrite,
                deployment.contracts[plan.table].state.constraints,
                time.time(),
            )
            for plan in plans
            if plan.rewrite is not None
        }
    return replace(deployment, proofs=proofs, rewrite_proofs=rewrites)


def _fills(plan: TablePlan) -> list[Fill]:
    """Return the fills of a plan, each column once."""
    found = {fill.column: fill for step in plan.steps for fill in step.fills}
    if plan.rewrite is not None:
        found |= {fill.column: fill for fill in plan.rewrite.values}
    return list(found.values())


def _proof(session: SqlSession, plan: TablePlan, fill: Fill) -> FillProof:
    proof = FillProof(format_path(fill.column), format_path(fill.source))
    if plan.live is None or plan.version is None:
        return replace(proof, problem="there is no table yet")
    # A column that is rewritten has no new values yet.
    is_missing = field_at(plan.live.columns, fill.column) is None or fill.column == fill.source
    try:
        rows = _table(session, plan).count(fill, plan.version, has_column=not is_missing)
    except SchemalintError as error:
        return replace(proof, problem=error.message)
    return replace(
        proof,
        to_fill=rows.to_fill,
        equal=rows.equal,
        not_converted=rows.not_converted,
        differing=rows.differing,
        inexact=rows.inexact if rows.judges_exactness else None,
        text=rows.rewritten_text() if fill.column == fill.source else rows.text(),
    )


def _table(session: SqlSession, plan: TablePlan) -> TableFills:
    table = named_table(plan.name) if plan.name is not None else path_table(plan.uri)
    return TableFills(session, table, _nothing_to_read, lambda _version: None)


def _nothing_to_read() -> LiveTable:
    raise InternalError("a count of rows reads no log")


class ExpressionParser:
    """Asks one session; each expression once."""

    def __init__(self, session: SqlSession) -> None:
        self._session: Any = session  # classic and Connect have the same methods, under several types
        self._ask = lru_cache(maxsize=10_000)(self._answer)

    def __call__(self, columns: Struct, text: str) -> SparkAnswer | None:
        """Return what Spark says of an expression over a row of these columns; None if it is not sent."""
        if not is_sent(text) or any(isinstance(type_, Unknown) for _path, type_ in walk(columns)):
            return None
        return self._ask(print_schema(columns), text)

    def _answer(self, schema: str, text: str) -> SparkAnswer:
        from pyspark.errors import PySparkException  # noqa: PLC0415 (pyspark loads only when needed)
        from pyspark.sql.types import StructType  # noqa: PLC0415

        row = self._session.createDataFrame([], StructType.fromJson(json.loads(schema)))
        try:
            analysed = row.selectExpr(text).schema
        except PySparkException as error:
            first = str(error).strip().split("\n", 1)[0]
            what = first.partition("] ")[2] or first
            # Spark 4 has both; Spark 3.5 only the older name.
            condition = getattr(error, "getCondition", error.getErrorClass)()
            return SparkAnswer(condition or "", what[:_LONGEST_ANSWER])
        return SparkAnswer(type=_type(analysed.json()))


def _type(schema: str) -> DataType | None:
    fields = parse_schema(schema).fields
    if len(fields) == 1 and not isinstance(fields[0].type, Unknown):
        return fields[0].type
    return None


def is_sent(text: str) -> bool:
    """Return whether an expression goes to a session: all it calls is built in, and runs no code."""
    if len(text) > _MOST_CHARACTERS or "${" in text or contains_query(text):  # ${…} is a variable of Spark's
        return False
    return all(
        name.rpartition(".")[2] not in _NOT_SENT and kind_of_function(name) in _KINDS
        for name in functions_called(text)
    )
