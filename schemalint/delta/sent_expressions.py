"""Which expressions of contracts a session of Spark may parse and analyse: those that cannot run anything.

Some functions compute an argument while Spark analyses them, and some run code: an expression with one of
them, or with what is not built in, is not sent.
"""

from __future__ import annotations

from typing import Final

from schemalint.delta.expressions import contains_query, functions_called
from schemalint.delta.functions import FunctionKind, kind_of_function

MOST_CHARACTERS: Final = 10_000
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


def is_sent(text: str) -> bool:
    """Return whether an expression goes to a session: all it calls is built in, and runs no code."""
    if len(text) > MOST_CHARACTERS or "${" in text or contains_query(text):  # ${…} is a variable of Spark's
        return False
    return all(
        name.rpartition(".")[2] not in _NOT_SENT and kind_of_function(name) in _KINDS
        for name in functions_called(text)
    )
