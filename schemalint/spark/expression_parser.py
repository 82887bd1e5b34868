"""Ask a session of Spark whether an expression can be analysed: no table is read, and nothing is computed.

An expression stands over an empty row, in no statement and without a catalog. Spark parses it and resolves
its names and types (``selectExpr`` and ``schema``: the analyzer). Neither the optimizer, which computes
constants, nor a job follows. Some functions compute an argument while Spark analyses them, and some run code:
an expression with one of them, or with what is not built in, is not sent.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from schemalint.delta.datatype import DataType, Struct, Unknown, walk
from schemalint.delta.expressions import contains_query, functions_called
from schemalint.delta.functions import FunctionKind, kind_of_function
from schemalint.delta.schema_json import parse_schema, print_schema
from schemalint.model.spark_answer import SparkAnswer

if TYPE_CHECKING:
    from schemalint.spark.session import SqlSession

MOST_CHARACTERS: Final = 10_000
"""Characters of an expression that is sent."""

_LONGEST_ANSWER: Final = 200

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


def is_sent(text: str) -> bool:
    """Return whether an expression goes to a session: all it calls is built in, and runs no code."""
    if len(text) > MOST_CHARACTERS or "${" in text or contains_query(text):  # ${…} is a variable of Spark's
        return False
    return all(
        name.rpartition(".")[2] not in _NOT_SENT and kind_of_function(name) in _KINDS
        for name in functions_called(text)
    )


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
            what = str(error).split("\n", 1)[0].partition("] ")[2] or str(error).split("\n", 1)[0]
            # Spark 4 has both; Spark 3.5 only the older name.
            condition = getattr(error, "getCondition", error.getErrorClass)()
            return SparkAnswer(condition or "", what[:_LONGEST_ANSWER])
        return SparkAnswer(type=_type(analysed.json()))


def _type(schema: str) -> DataType | None:
    fields = parse_schema(schema).fields
    return fields[0].type if len(fields) == 1 and not isinstance(fields[0].type, Unknown) else None
