from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from schemalint.delta.datatype import Array, Atomic, DataType, Decimal, Map, type_at, walk
from schemalint.delta.path import format_path
from schemalint.delta.properties import is_true
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule
from schemalint.values import replace

_COMPATS = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))
_V1, _V2, _V3 = _COMPATS
_MODE = "delta.columnMapping.mode"
_VECTORS = "delta.enableDeletionVectors"
_TRACKING = "delta.enableRowTracking"
_FORMATS = "delta.universalFormat.enabledFormats"
_VIOLATION = "DELTA_ICEBERG_COMPAT_VIOLATION"


def _named(*names: str) -> Callable[[DataType], bool]:
    return lambda type_: isinstance(type_, Atomic) and type_.name in names


def _of_v1(type_: DataType) -> bool:
    return isinstance(type_, Array | Map) or _named("void")(type_)


# The types that a table may not have. Measured on Delta 4.4.0: V1 takes variant, which V2 does not.
_FORBIDDEN: Mapping[str, Callable[[DataType], bool]] = {
    _V1: _of_v1,
    _V2: _named("void", "variant"),
    _V3: _named("void"),
}


@rule(
    "RD008",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_ICEBERG_COMPAT_VIOLATION", "DELTA_UNIVERSAL_FORMAT_VIOLATION"),
)
def iceberg_compat_config(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The table cannot be what Iceberg compatibility asks for.

    ## What it does

    Looks at the table as it is once the contract is applied, where one of `delta.enableIcebergCompatV1`, `V2`
    and `V3` is true or UniForm is on, and says the first thing that does not fit:

    - no column mapping; a new table gets the mode `name` by itself, an existing one does not;
    - more than one of the three;
    - deletion vectors with V1 or V2, or with Hudi;
    - row tracking that is switched off with V3, or missing on an existing table;
    - a type that the version does not take: `void`; arrays and maps with V1; `variant` with V2; a partition
      column of type `decimal` with V2 and V3;
    - `delta.universalFormat.enabledFormats: iceberg` without any of the three;
    - V3 switched off.

    Widened types are RD007's, values that do not exist TP002's.

    ## Why is this bad?

    Delta refuses all of it with `DELTA_ICEBERG_COMPAT_VIOLATION` and a word for the reason, such as
    `WRONG_REQUIRED_TABLE_PROPERTY` or `UNSUPPORTED_DATA_TYPE`; UniForm's own conditions with
    `DELTA_UNIVERSAL_FORMAT_VIOLATION`; V3's end with "IcebergCompat cannot be disabled". If V1 or V2 is
    switched off under UniForm, Delta reports success, and has taken the format away as well.

    ## What to do

    For an existing table set the mapping mode and the compatibility together; deletion vectors are switched
    off in a statement before, and `REORG TABLE … APPLY (PURGE)` removes those that are there.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableIcebergCompatV2: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableIcebergCompatV2: true, delta.columnMapping.mode: name}
    protocol: {allow_upgrade: true}
    ```
    """
    problem = next(_problems(ctx), None)
    if problem is not None:
        yield problem


def _problems(ctx: RuleContext) -> Iterator[Problem]:
    enabled = [key for key in _COMPATS if is_true(ctx.after.properties.get(key))]
    for key in enabled:
        yield from _mapping(key, ctx)
        if len(enabled) > 1:
            message = f"{' and '.join(enabled)} exclude each other"
            error = f"{_VIOLATION}.VERSION_MUTUAL_EXCLUSIVE"
            yield _problem(ctx, enabled, message, "keep one of them", error)
        yield from _vectors(key, ctx)
        yield from _row_tracking(key, ctx)
        yield from _types(key, ctx)
    yield from _universal_format(ctx, enabled)
    if is_true(ctx.before.properties.get(_V3)) and _V3 not in enabled:
        instead = f" for {enabled[0]}" if enabled else ""
        message = f"{_V3} cannot be switched off{instead}"
        yield _problem(ctx, [*enabled, _V3], message, f"keep `{_V3}: true`", None)


def _mapping(key: str, ctx: RuleContext) -> Iterator[Problem]:
    """A table that Delta creates with a compatibility gets mapping, if nothing else is said."""
    if ctx.column_mapping != "none":
        return
    named = _MODE in ctx.contract.state.properties
    if named or not (ctx.is_new_table or is_true(ctx.before.properties.get(key))):
        yield _problem(
            ctx,
            [key, _MODE],
            f"{key} needs column mapping",
            f"set `{_MODE}: name` too",
            f"{_VIOLATION}.WRONG_REQUIRED_TABLE_PROPERTY",
        )


def _vectors(key: str, ctx: RuleContext) -> Iterator[Problem]:
    if key != _V3 and is_true(ctx.after.properties.get(_VECTORS)):
        yield _problem(
            ctx,
            [key, _VECTORS],
            f"{key} and {_VECTORS} exclude each other",
            f"set `{_VECTORS}: false` first, or use {_V3}",
            f"{_VIOLATION}.DELETION_VECTORS_SHOULD_BE_DISABLED",
        )


def _row_tracking(key: str, ctx: RuleContext) -> Iterator[Problem]:
    said = ctx.after.properties.get(_TRACKING)
    if key == _V3 and said is not None and not is_true(said):
        yield _problem(
            ctx,
            [key, _TRACKING],
            f"{key} needs row tracking",
            f"take `{_TRACKING}: {said}` away",
            f"{_VIOLATION}.WRONG_REQUIRED_TABLE_PROPERTY",
        )


def _types(key: str, ctx: RuleContext) -> Iterator[Problem]:
    forbidden = _FORBIDDEN[key]
    if paths := [path for path, type_ in walk(ctx.after.columns) if forbidden(type_)]:
        columns = ", ".join(map(format_path, paths))
        problem = _problem(
            ctx,
            [key],
            f"{key} does not allow the type of {columns}",
            "give the column another type, or do without the compatibility",
            f"{_VIOLATION}.UNSUPPORTED_DATA_TYPE",
        )
        added = [
            path for path in paths if type_at(ctx.before.columns, path) != type_at(ctx.after.columns, path)
        ]
        if added and is_true(ctx.before.properties.get(key)):
            yield replace(problem, object=None, path=added[0], new=columns)
        else:
            yield replace(problem, new=columns)
    partitions = ctx.after.partitioned_by if isinstance(ctx.after.partitioned_by, tuple) else ()
    fields = [field for name in partitions if (field := ctx.after.columns.get(name))]
    if key != _V1 and (names := [field.name for field in fields if isinstance(field.type, Decimal)]):
        yield _problem(
            ctx,
            [key],
            f"{key} does not allow to partition by a decimal: {', '.join(names)}",
            "partition by another column",
            f"{_VIOLATION}.UNSUPPORTED_PARTITION_DATA_TYPE",
        )


def _universal_format(ctx: RuleContext, enabled: list[str]) -> Iterator[Problem]:
    values = ctx.after.properties
    formats = (values.get(_FORMATS) or "").split(",")
    if "iceberg" in formats and not enabled:
        # Where the compatibility is switched off, Delta reports success and takes the format away as well.
        was_on = any(is_true(ctx.before.properties.get(key)) for key in _COMPATS)
        yield _problem(
            ctx,
            [_FORMATS, *_COMPATS],
            f"{_FORMATS} names iceberg, but no Iceberg compatibility is on",
            f"set `{_V2}: true` too, or take the format away",
            None if was_on else "DELTA_UNIVERSAL_FORMAT_VIOLATION",
        )
    if "hudi" in formats and is_true(values.get(_VECTORS)):
        yield _problem(
            ctx,
            [_VECTORS, _FORMATS],
            f"{_FORMATS} names hudi, which does not know deletion vectors",
            f"set `{_VECTORS}: false` first",
            "DELTA_UNIVERSAL_FORMAT_VIOLATION",
        )


def _problem(ctx: RuleContext, keys: Sequence[str], message: str, help_: str, error: str | None) -> Problem:
    """The problem of properties that go together: it is the first one's that the edit changes."""
    before, after = ctx.before.properties, ctx.after.properties
    edited = [key for key in keys if before.get(key) != after.get(key)]
    return Problem(message, help=help_, object=ObjectRef("property", (edited or keys)[0]), delta_error=error)
