"""Whether a session sees the rows and values that a table has: a filter or a mask would be written into it.

A mask keeps the number of rows. So nulls, smallest and largest values are compared with the statistics of the
log. Databricks has masks: there each column needs statistics that can be compared, or a target that says
that nothing is masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.base.values import frozen
from schemalint.delta.datatype import BYTE, DATE, INTEGER, LONG, SHORT, STRING, DataType, Struct
from schemalint.delta.datatype import Decimal as DecimalType
from schemalint.delta.sql_text import always_quoted
from schemalint.tables.delta_log.told_values import ToldColumn, ToldRows

_CUT: Final = 32  # Delta cuts texts in statistics after so many characters (DataSkippingReader)
_INTEGERS: Final = frozenset({BYTE, SHORT, INTEGER, LONG})


@frozen
class _Column:
    name: str
    type: DataType
    told: ToldColumn

    def shows_masks(self, rows: int) -> bool:
        """Whether a session that sees other values is noticed: bounds are compared, or all is null."""
        return self.has_bounds or self.told.nulls == rows

    @property
    def has_bounds(self) -> bool:
        is_comparable = isinstance(self.type, DecimalType) or self.type in _INTEGERS | {STRING, DATE}
        return is_comparable and all(
            isinstance(bound, str | int | Decimal) for bound in (self.told.least, self.told.greatest)
        )


def seen(columns: Struct, told: ToldRows | None) -> tuple[str, ...]:
    """Return the aggregates of the rows that `require_all` compares with the log."""
    return tuple(text for column in _told(columns, told) for text in _aggregates(column))


def require_all(
    columns: Struct, told: ToldRows | None, version: int, rows: int, values: Sequence[Any]
) -> None:
    """Require that a session sees all rows of a version, and their values.

    Raises:
        ApplyError: It sees fewer rows, or other values.
    """
    if told is not None and rows != told.rows:
        raise ApplyError(
            f"the session sees {rows:,} of the {told.rows:,} rows of version {version}",
            help="a fill needs a session without row filters and column masks",
        )
    rest = iter(values)
    wrong = []
    for column in _told(columns, told):
        nulls = next(rest)
        bounds = (next(rest), next(rest)) if column.has_bounds else (None, None)
        if not _is_as_told(column, nulls, *bounds):
            wrong.append(column.name)
    if wrong:
        raise ApplyError(
            f"the session sees other values of {', '.join(wrong)} than version {version} has in the log",
            help="a fill needs a session without row filters and column masks",
        )


def require_statistics(columns: Struct, told: ToldRows | None, version: int, target: str) -> None:
    """Require that the log tells of each column what shows a mask.

    Raises:
        ApplyError: A column has no exact statistics, or none that are compared.
    """
    compared = {column.name for column in _told(columns, told) if told and column.shows_masks(told.rows)}
    others = [name for name in columns.names if name not in compared]
    if others:
        raise ApplyError(
            f"the log does not tell the values of {', '.join(others)} at version {version}, so that nobody "
            "can tell whether the session sees them or a mask",
            help="if the session has no row filter and no column mask on the tables, set unmasked = true "
            f"under [targets.{target}]",
        )


def _told(columns: Struct, told: ToldRows | None) -> Iterator[_Column]:
    for field in columns.fields:
        column = told.columns.get(field.stored_name) if told is not None else None
        if column is not None:
            yield _Column(field.name, field.type, column)


def _aggregates(column: _Column) -> Iterator[str]:
    name = always_quoted(column.name)
    yield f"count_if({name} IS NULL)"
    if column.has_bounds:
        yield f"CAST(min({name}) AS string)"
        yield f"CAST(max({name}) AS string)"


def _is_as_told(column: _Column, nulls: int, least: str | None, greatest: str | None) -> bool:
    if nulls != column.told.nulls:
        return False
    if not column.has_bounds:
        return True
    return _is_same(least, column.told.least) and _is_same(greatest, column.told.greatest)


def _is_same(value: str | None, told: object) -> bool:
    if value is None:
        return False
    if isinstance(told, str):
        # Java counts a character beyond the first 65,536 as two.
        cut = _CUT if value.isascii() else _CUT // 2
        return value[:cut] == told[:cut]
    try:
        return Decimal(value) == Decimal(str(told))
    except InvalidOperation:
        return False
