from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import DefaultChanged, FieldAdded, IdentityChanged, TableAdded, TypeChanged
from schemalint.delta.datatype import Field, Identity, Unmanaged, field_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule

_ALTERED = "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"
_TYPE = "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"
_TYPE_FOR_SPARK = "IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"  # Spark's own parser accepts int
_STEP = "IDENTITY_COLUMNS_ILLEGAL_STEP"
_PARTITION = "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED"
_DEFAULT = "IDENTITY_COLUMN_WITH_DEFAULT_VALUE"
_GENERATED = "CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE"
_LIVE_ERRORS = {_STEP: "IllegalArgumentException", _PARTITION: "UNRESOLVED_COLUMN.WITH_SUGGESTION"}


@rule(
    "NC008",
    on=(TypeChanged, IdentityChanged, DefaultChanged, FieldAdded, TableAdded),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(
        _ALTERED,
        _TYPE,
        _TYPE_FOR_SPARK,
        _STEP,
        _PARTITION,
        _DEFAULT,
        _GENERATED,
        *_LIVE_ERRORS.values(),
    ),
    verdict="impossible",
)
def identity_column_change(
    change: TypeChanged | IdentityChanged | DefaultChanged | FieldAdded | TableAdded, ctx: RuleContext
) -> Iterator[Problem]:
    """An identity column changes, or is declared where Delta does not allow one.

    ## What it does

    Finds, in an existing table,

    - an identity column that is widened or gets a default,
    - a column that becomes an identity column, stops being one, or gets another start, step or mode,
    - a new identity column;

    and, in a new table, an identity column that is not `bigint`, whose step is 0, that is a partition column,
    has a default, or is generated. Renaming, moving, commenting and dropping an identity column is fine. The
    area TW reports a type change that Delta refuses for any column, and TW006 a widening while type widening
    is off.

    ## Why is this bad?

    Delta keeps the high-water mark of an identity column and assigns values from it. `ALTER COLUMN` on one
    fails with `DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED`, and no statement adds one to an existing
    table, makes a column one, or changes how it counts. In a new table the errors are
    `DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE` for `int`, `IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE` for any
    other type, `IDENTITY_COLUMNS_ILLEGAL_STEP`, `DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED`,
    `IDENTITY_COLUMN_WITH_DEFAULT_VALUE` and, for a generation expression,
    `CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE`.

    If another writer has made such a column, Spark reads and alters the table, but each write that lets Spark
    assign the value fails: with `IllegalArgumentException` for a step of 0, with
    `UNRESOLVED_COLUMN.WITH_SUGGESTION` for a partition column. For another type than `bigint` it succeeds,
    and Spark can no longer read the table (`FAILED_READ_FILE`), because the new file holds `bigint` (all
    measured on Delta 4.4.0).

    ## What to do

    Leave it unchanged. If it must differ, create a new table and copy the rows.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: seq, type: bigint, identity: {start: 1, step: 1}}
      - {name: shop, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: seq, type: bigint, identity: {start: 1, step: 10}}
      - {name: shop, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: seq, type: bigint, identity: {start: 1, step: 1}, comment: counts in ones}
      - {name: shop, type: string}
    ```
    """
    match change:
        case TableAdded() if ctx.live is None:
            yield from _new_table(change)
            yield from _other_values(change)
        case TableAdded():
            yield from map(_of_live_table, _new_table(change))
        case FieldAdded():
            yield from _added(change)
        case IdentityChanged():
            yield from _changed(change, ctx)
        case TypeChanged():
            yield from _type_changed(change, ctx)
        case DefaultChanged(path=path, new=str()) if _is_identity(path, ctx):
            yield Problem(
                f"{format_path(path)} is an identity column and cannot have a default",
                help="remove the default: Delta assigns the values",
                delta_error=_ALTERED,
            )


def _is_identity(path: Path, ctx: RuleContext) -> bool:
    field = field_at(ctx.after.columns, path)
    return field is not None and isinstance(field.identity, Identity)


def _type_changed(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    if ctx.alters(change) and _is_identity(change.path, ctx):
        yield Problem(
            f"{format_path(change.path)} is an identity column and cannot become {print_type(change.new)}",
            help=f"leave it {print_type(change.old)}: Delta cannot change the type of an identity column",
            delta_error=_ALTERED,
        )


def _changed(change: IdentityChanged, ctx: RuleContext) -> Iterator[Problem]:
    path = format_path(change.path)
    if isinstance(change.new, Unmanaged):
        return
    if isinstance(change.old, Unmanaged) and ctx.against == "git":
        if change.new is not None:
            yield Problem(
                f"{path} is declared as identity for the first time: a live plain column stays plain",
                help="compare with the table: `schemalint check --live`",
                severity=Severity.WARNING,
            )
    elif change.new is None:
        yield Problem(f"{path} is an identity column and cannot become a plain one", help=_COPY)
    elif change.old is None:
        yield Problem(f"{path} is a plain column and cannot become an identity column", help=_COPY)
    else:
        yield Problem(f"{path} is an identity column whose start, step and mode cannot change", help=_COPY)


_COPY = "leave it unchanged, or create a new table and copy the rows"


def _added(change: FieldAdded) -> Iterator[Problem]:
    if isinstance(change.field.identity, Identity):
        yield Problem(
            f"{format_path(change.path)} is new in an existing table and cannot be an identity column",
            help="add a plain column, or create a new table and copy the rows",
        )


def _new_table(added: TableAdded) -> Iterator[Problem]:
    partitions = added.state.partition_keys
    for path, field in walk_fields(added.state.columns):
        if isinstance(field.identity, Identity):
            is_partition = field.name.lower() in partitions
            yield from _new_column(path, field, field.identity, is_partition=is_partition)


def _other_values(added: TableAdded) -> Iterator[Problem]:
    """Yield a problem for each identity column of a new table that another setting gives values too."""
    for field in added.state.columns.fields:
        other = next((part for part in _OTHER_VALUES if isinstance(getattr(field, part), str)), None)
        if isinstance(field.identity, Identity) and other is not None:
            what, help_, error = _OTHER_VALUES[other]
            yield Problem(
                f"{format_path((field.name,))} is an identity column and cannot {what}",
                help=help_,
                path=(field.name,),
                delta_error=error,
            )


_OTHER_VALUES = {
    "generated": ("be generated", "declare one of the two", _GENERATED),
    "default": ("have a default", "remove the default: Delta assigns the values", _DEFAULT),
}


def _of_live_table(problem: Problem) -> Problem:
    """Return the problem of a column that another writer has made, with what it does to Spark."""
    error = _LIVE_ERRORS.get(problem.delta_error or "")
    effect = "the files that Spark writes hold bigint, and Spark cannot read them"
    if error:
        effect = "every write that lets Spark assign the value fails"
    return replace(problem, message=f"{problem.message}: {effect}", help=_COPY, delta_error=error)


def _new_column(path: Path, field: Field, identity: Identity, *, is_partition: bool) -> Iterator[Problem]:
    name, type_ = format_path(path), print_type(field.type)
    if type_ != "bigint":
        yield Problem(
            f"{name} is an identity column of type {type_}",
            help="declare it as bigint",
            path=path,
            delta_error=_TYPE if type_ == "int" else _TYPE_FOR_SPARK,
        )
    elif identity.step == 0:
        yield Problem(
            f"{name} is an identity column whose step is 0",
            help="declare another step",
            path=path,
            delta_error=_STEP,
        )
    elif is_partition:
        yield Problem(
            f"{name} is an identity column and cannot be a partition column",
            help="partition by another column",
            path=path,
            delta_error=_PARTITION,
        )
