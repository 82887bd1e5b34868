"""What a contract declares to be written anew, because Delta cannot change it in place."""

from __future__ import annotations

from collections.abc import Mapping

from schemalint.base.values import field, frozen
from schemalint.delta.datatype import DataType, Field, Managed, map_fields_within, type_at
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type


@frozen
class ColumnRewrite:
    """How `apply` writes the values of a column anew in its declared type.

    Attributes:
        source: The type that the column has before; if it has another one, the rewrite means nothing.
        expression: The value in SQL, from the columns of the row. Nothing but `delta.fill_expressions` says
            what may run.
        keeps_null: Whether a value that does not convert may become null (``unfilled: keep_null``).
        keeps_converted: Whether a value may become another one (``inexact: keep_converted``).
        time_zone: The time zone of the session that evaluates the expression; None for UTC.
    """

    source: DataType
    expression: str
    keeps_null: bool = False
    keeps_converted: bool = False
    time_zone: str | None = None


@frozen
class Rewrites:
    """The rewrites of a table.

    Attributes:
        columns: Those of columns and fields, by declared path.
        partitioned_by: The partition columns before; None if the layout is not rewritten.
    """

    columns: Mapping[Path, ColumnRewrite] = field(default_factory=dict)
    partitioned_by: tuple[str, ...] | None = None

    def __bool__(self) -> bool:
        """Whether anything is to be rewritten."""
        return bool(self.columns) or self.partitioned_by is not None

    def due(self, before: TableState, declared: TableState) -> Rewrites:
        """Return the rewrites whose columns, or whose layout, are still as they were before."""
        columns = {}
        for path, rewrite in self.columns.items():
            source = bare_type_at(before, path)
            if source == _bare(rewrite.source) and source != bare_type_at(declared, path):
                columns[path] = rewrite
        layout = self.partitioned_by
        if layout is not None:
            old, new = _names(before.partitioned_by), _names(declared.partitioned_by)
            layout = layout if _names(layout) == old and new not in (None, old) else None
        return Rewrites(columns, layout)

    def made(self, after: TableState) -> Rewrites:
        """Return the rewrites whose columns, or whose layout, are no longer as they were before."""
        columns = {
            path: rewrite
            for path, rewrite in self.columns.items()
            if bare_type_at(after, path) not in (None, _bare(rewrite.source))
        }
        layout = self.partitioned_by
        is_made = layout is not None and _names(layout) != (_names(after.partitioned_by) or [])
        return Rewrites(columns, layout if is_made else None)

    def covers(self, path: Path) -> bool:
        """Whether a column is rewritten, or one that contains it."""
        return any(is_within(lowercased(path), lowercased(rewritten)) for rewritten in self.columns)


def bare_type_at(state: TableState, path: Path) -> str | None:
    """Return the type at a path as text, without comments and nullability; None if there is none."""
    type_ = type_at(state.columns, path)
    return None if type_ is None else _bare(type_)


def _bare(type_: DataType) -> str:
    return print_type(map_fields_within(type_, lambda _path, inner: Field(inner.name.lower(), inner.type)))


def _names(partitioning: Managed[tuple[str, ...]]) -> list[str] | None:
    if isinstance(partitioning, tuple):
        return [name.lower() for name in partitioning]
    return None
