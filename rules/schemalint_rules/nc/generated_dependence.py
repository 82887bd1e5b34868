from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.delta.change import FieldAdded, FieldRemoved, FieldRenamed, GeneratedChanged, TypeChanged
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import Field, Unmanaged, field_at
from schemalint.delta.path import Path, format_path, lowercased, path_key
from schemalint.plugin import Problem, RuleContext, Severity, rule

_SOURCE = "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"
_OWN_TYPE = "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"

_SourceChange = TypeChanged | FieldRenamed | FieldRemoved


@rule(
    "NC006",
    on=(TypeChanged, FieldRenamed, FieldRemoved, FieldAdded, GeneratedChanged),
    severity=Severity.ERROR,
    delta_errors=(_SOURCE, _OWN_TYPE),
    verdict="impossible",
)
def generated_dependence(
    change: _SourceChange | FieldAdded | GeneratedChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A generated column, or a column that it is computed from, changes.

    ## What it does

    Finds, in an existing table,

    - a widening, a rename or a drop of a column that a generated column is computed from: the column itself,
      a field inside it, or a column that contains it;
    - a widening of a generated column;
    - a new generated column, and a column that becomes generated, stops being generated, or gets another
      expression.

    The rule ignores a generated column that the same edit drops, and renaming, moving or commenting a
    generated column. An expression that schemalint cannot parse is a warning, because the columns it uses are
    unknown. The rule does not check whether an expression has the type of its column: only the engine knows
    that. If Delta refuses a change for another reason, the rule for that reason reports it: TW for types,
    CM001, CM002 and CM003 for names.

    ## Why is this bad?

    Delta refuses to alter a column that a generated column is computed from, with
    `DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE`. An expression must have exactly the type of its column,
    so a generated column cannot be widened either (`DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH`). And a
    column gets its expression only when the table is created: no statement adds a generated column to a
    table, or changes an expression. `ALTER COLUMN … DROP DEFAULT` on a generated column reports success and
    does nothing.

    ## What to do

    Drop the generated column in the same edit (`dropped`), and let readers or a view compute it; or leave its
    source unchanged.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
      - {name: total, type: int, generated: amount * 2}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: price, type: int, renamed_from: amount}
      - {name: total, type: int, generated: price * 2}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: price, type: int, renamed_from: amount}
    dropped: [total]
    properties: {delta.columnMapping.mode: name}
    ```
    """
    match change:
        case FieldAdded(path=path, field=Field(generated=str())):
            yield Problem(
                f"{format_path(path)} is new in an existing table and cannot be generated", help=_USE_PLAIN
            )
        case FieldAdded():
            return
        case GeneratedChanged():
            yield from _changed(change, ctx)
        case _ if ctx.alters(change):
            yield from _source_changed(change, ctx)


_LEAVE = "leave it unchanged, and use a plain column or a view for another value"
_USE_PLAIN = "let writers fill a plain column, or compute the value in a view"


def _changed(change: GeneratedChanged, ctx: RuleContext) -> Iterator[Problem]:
    path = format_path(change.path)
    if isinstance(change.new, Unmanaged) or _follows_a_rename(change, ctx):
        return
    if isinstance(change.old, Unmanaged) and ctx.against == "git":
        if change.new is not None:
            yield Problem(
                f"{path} is declared as generated for the first time: a live plain column stays plain",
                help="compare with the table: `schemalint check --live`",
                severity=Severity.WARNING,
            )
    elif change.new is None:
        yield Problem(f"{path} is a generated column and cannot become a plain one", help=_LEAVE)
    elif change.old is None:
        yield Problem(f"{path} is a plain column and cannot become generated", help=_USE_PLAIN)
    else:
        yield Problem(
            f"{path} has a new generation expression, but Delta cannot change the old one", help=_LEAVE
        )


def _follows_a_rename(change: GeneratedChanged, ctx: RuleContext) -> bool:
    """Return whether the old expression uses a renamed column: the rename has its own finding."""
    used = columns_used(change.old) if isinstance(change.old, str) else None
    return any(
        field_at(ctx.before.columns, old)
        for names in used or ()
        for old in ctx.contract.state.renamed.overlapping(tuple(map(str.lower, names)))
    )


def _source_changed(change: _SourceChange, ctx: RuleContext) -> Iterator[Problem]:
    path = (*change.path[:-1], change.old_name) if isinstance(change, FieldRenamed) else change.path
    column, users, dropped = format_path(path), ctx.before.generated_users, ctx.contract.state.dropped_by_key

    def listed(generated: Iterable[Path]) -> list[str]:
        others = (other for other in generated if lowercased(other) != lowercased(path))
        return [format_path(other) for other in others if path_key(other) not in dropped]

    own = field_at(ctx.before.columns, path)
    if own is not None and isinstance(own.generated, str) and path_key(path) not in dropped:
        yield from _own_type_changed(change)
    using, unparsed = listed(users.of(path)), listed(users.unparsed)
    if using:
        drop = ctx.wording.dropping(*using)
        yield Problem(
            f"{column} cannot change: it is the source of {', '.join(using)}",
            help=f"leave it unchanged; or drop what is computed from it, and {drop}",
            delta_error=_SOURCE,
        )
    elif unparsed:
        yield Problem(
            f"{column} changes, and schemalint cannot parse the expression of {', '.join(unparsed)}, "
            "which may use it",
            help=f"if the expression uses {column}, Delta refuses the change ({_SOURCE})",
            severity=Severity.WARNING,
        )


def _own_type_changed(change: _SourceChange) -> Iterator[Problem]:
    if isinstance(change, TypeChanged):
        yield Problem(
            f"{format_path(change.path)} is generated, and its expression still has the old type",
            help="leave the type unchanged, or use a plain column",
            delta_error=_OWN_TYPE,
        )
