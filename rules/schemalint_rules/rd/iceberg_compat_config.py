from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from schemalint.delta.datatype import Array, Atomic, DataType, Decimal, Map, type_at, walk
from schemalint.delta.engine_answers import (
    checks_iceberg_partitions,
    has_own_types,
    sets_of_existing_table,
)
from schemalint.delta.feature import FEATURES
from schemalint.delta.iceberg_defaults import is_iceberg_literal
from schemalint.delta.path import Path, format_path
from schemalint.delta.properties import COLUMN_MAPPING_MODE, ICEBERG_COMPAT_KEYS, is_true
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule

_V1, _V2, _V3 = ICEBERG_COMPAT_KEYS
_VECTORS = "delta.enableDeletionVectors"
_TRACKING = "delta.enableRowTracking"
_FORMATS = "delta.universalFormat.enabledFormats"
_VIOLATION = "DELTA_ICEBERG_COMPAT_VIOLATION"


def _has_name(*names: str) -> Callable[[DataType], bool]:
    return lambda type_: isinstance(type_, Atomic) and type_.name in names


def _is_spatial(type_: DataType) -> bool:
    return isinstance(type_, Atomic) and type_.name.startswith(("geometry", "geography"))


def _is_refused_anyway(path: Path, type_: DataType, ctx: RuleContext) -> bool:
    """Whether a spatial type is new, and one that the engine does not store: TW012 reports that."""
    is_new = type_at(ctx.before.columns, path) != type_
    return _is_spatial(type_) and is_new and not has_own_types(ctx.engine, type_)


def _refused_by_v1(type_: DataType) -> bool:
    return isinstance(type_, Array | Map) or _has_name("void")(type_) or _is_spatial(type_)


def _refused_by_v2(type_: DataType) -> bool:
    return _has_name("void", "variant")(type_) or _is_spatial(type_)


# The types that each version refuses. Measured on Delta 4.4.0: V1 accepts variant, V2 does not.
# Spatial types: CheckGeoSpatialTableFeatureDisabled in IcebergCompat.scala, of V1 and V2.
_FORBIDDEN: Mapping[str, Callable[[DataType], bool]] = {
    _V1: _refused_by_v1,
    _V2: _refused_by_v2,
    _V3: _has_name("void"),
}


@rule(
    "RD008",
    on=Contract,
    severity=Severity.ERROR,
    live=True,
    delta_errors=("DELTA_ICEBERG_COMPAT_VIOLATION", "DELTA_UNIVERSAL_FORMAT_VIOLATION"),
    verdict="impossible",
)
def iceberg_compat_config(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The table does not meet the requirements of Iceberg compatibility or UniForm.

    ## What it does

    Checks the table as it is once the contract is applied, if one of `delta.enableIcebergCompatV1`, `V2` and
    `V3` is true or UniForm is enabled, and reports the first violation:

    - column mapping is off; a new table gets the mode `name` automatically, an existing table does not;
    - more than one of the three is enabled;
    - deletion vectors are enabled with V1 or V2, or with Hudi;
    - row tracking is disabled with V3, or is on already where an existing table gets V3;
    - a column has a default that is no plain value with V3: `NULL`, `DATE'2026-01-31'`, a function;
    - a column has a type that the version does not accept: `void`; arrays and maps with V1; `variant` with
      V2; `geometry` and `geography` with V1 and V2; a partition column of type `decimal` with V2 and V3, from
      Delta 3.3 to 4.4;
    - `delta.universalFormat.enabledFormats` names `iceberg`, but none of the three is enabled;
    - V3 was enabled and no longer is;
    - V2 is enabled for an existing table, and the engine of the target is Delta 3.2 or older.

    RD007 checks widened types, TP002 reports invalid values.

    ## Why is this bad?

    Delta refuses all of these with `DELTA_ICEBERG_COMPAT_VIOLATION` and a subclass for the reason, such as
    `WRONG_REQUIRED_TABLE_PROPERTY` or `UNSUPPORTED_DATA_TYPE`; violations of UniForm's own requirements with
    `DELTA_UNIVERSAL_FORMAT_VIOLATION`; disabling V3 with "IcebergCompat cannot be disabled", and V3 where row
    tracking is on with "Please disable RowTracking first" (measured on Delta 4.4.0). If you
    disable V1 or V2 under UniForm, Delta reports success, but also removes the format.

    ## What to do

    For an existing table set the mapping mode and the compatibility together. Disable deletion vectors in an
    earlier statement; `REORG TABLE … APPLY (PURGE)` removes the existing ones. Delta 3.2 makes an existing
    table compatible by `REORG TABLE … APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))` alone.

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
    enabled = [key for key in ICEBERG_COMPAT_KEYS if is_true(ctx.after.properties.get(key))]
    for key in enabled:
        yield from _mapping(key, ctx)
        if len(enabled) > 1:
            message = f"{' and '.join(enabled)} exclude each other"
            error = f"{_VIOLATION}.VERSION_MUTUAL_EXCLUSIVE"
            yield _problem(ctx, enabled, message, "keep one of them", error)
        yield from _vectors(key, ctx)
        yield from _row_tracking(key, ctx)
        yield from _types(key, ctx)
        if key == _V3:
            yield from _defaults(ctx)
    yield from _universal_format(ctx, enabled)
    if is_true(ctx.before.properties.get(_V3)) and _V3 not in enabled:
        replacement = f" in favor of {enabled[0]}" if enabled else ""
        message = f"{_V3} cannot be disabled{replacement}"
        yield _problem(ctx, [*enabled, _V3], message, f"keep `{_V3}: true`", None)
    if _V2 in enabled and not is_true(ctx.before.properties.get(_V2)) and not ctx.is_new_table:
        yield from _beyond_engine(ctx)


def _beyond_engine(ctx: RuleContext) -> Iterator[Problem]:
    """Report V2 of an existing table, where the engine has not refused its column mapping before (EN002)."""
    is_mappable = any(FEATURES[name].reader for name in ctx.features if name in FEATURES)
    if ctx.before.column_mapping == "none" and not is_mappable:
        return
    does = partial(sets_of_existing_table, key=_V2)
    problem = ctx.refusal_of_writer(does, f"set {_V2} of a table that exists")
    if problem is not None:
        yield replace(
            problem,
            help="upgrade the table with REORG TABLE … APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))",
            object=ObjectRef("property", _V2),
            delta_error=f"{_VIOLATION}.CHANGE_VERSION_NEED_REWRITE",
        )


def _mapping(key: str, ctx: RuleContext) -> Iterator[Problem]:
    """Check column mapping; Delta enables it for a new table whose contract does not set a mode."""
    if ctx.column_mapping != "none":
        return
    is_declared = COLUMN_MAPPING_MODE in ctx.contract.state.properties
    was_enabled = ctx.live is None and is_true(ctx.before.properties.get(key))
    if is_declared or not (ctx.is_new_table or was_enabled):
        yield _problem(
            ctx,
            [key, COLUMN_MAPPING_MODE],
            f"{key} needs column mapping",
            f"set `{COLUMN_MAPPING_MODE}: name` too",
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
    value = ctx.after.properties.get(_TRACKING)
    if key == _V3 and value is not None and not is_true(value):
        yield _problem(
            ctx,
            [key, _TRACKING],
            f"{key} needs row tracking",
            f"remove `{_TRACKING}: {value}`",
            f"{_VIOLATION}.WRONG_REQUIRED_TABLE_PROPERTY",
        )

    if key == _V3 and not is_true(ctx.before.properties.get(_V3)) and _is_tracked_before(ctx):
        remove = ctx.wording.remove_property.format(key=_TRACKING)
        yield _problem(
            ctx,
            [key],
            f"{key} cannot be set on a table that has row tracking already",
            f"in a change before this one, {remove}: {_V3} turns it on again",
            None,
        )


def _is_tracked_before(ctx: RuleContext) -> bool:
    return not ctx.is_new_table and is_true(ctx.before.properties.get(_TRACKING))


def _defaults(ctx: RuleContext) -> Iterator[Problem]:
    """Check the defaults of columns; those of fields inside of structs Delta does not have."""
    for field in ctx.after.columns.fields:
        if isinstance(field.default, str) and not is_iceberg_literal(field.default, field.type):
            problem = _problem(
                ctx,
                [_V3],
                f"{_V3} takes no default of {format_path((field.name,))} but a plain value, not "
                f"{field.default}",
                "write a number, true or false, or a text in quotes, which dates and times are too",
                f"{_VIOLATION}.UNSUPPORTED_DATA_TYPE",
            )
            before = ctx.before.columns.get(field.name)
            if is_true(ctx.before.properties.get(_V3)) and (
                before is None or before.default != field.default
            ):
                problem = replace(problem, object=None, path=(field.name,))
            yield replace(problem, new=field.default)


def _types(key: str, ctx: RuleContext) -> Iterator[Problem]:
    forbidden = _FORBIDDEN[key]
    paths = [
        path
        for path, type_ in walk(ctx.after.columns)
        if forbidden(type_) and not _is_refused_anyway(path, type_, ctx)
    ]
    if paths:
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
    fields = [field for name in ctx.after.partition_columns if (field := ctx.after.columns.get(name))]
    decimals = [field.name for field in fields if isinstance(field.type, Decimal)]
    if decimals and key != _V1 and checks_iceberg_partitions(ctx.engine):
        yield _problem(
            ctx,
            [key],
            f"{key} does not allow partitioning by a decimal: {', '.join(decimals)}",
            "partition by another column",
            f"{_VIOLATION}.UNSUPPORTED_PARTITION_DATA_TYPE",
        )


def _universal_format(ctx: RuleContext, enabled: list[str]) -> Iterator[Problem]:
    values = ctx.after.properties
    formats = (values.get(_FORMATS) or "").split(",")
    if "iceberg" in formats and not enabled:
        # If the edit disables the compatibility, Delta reports success and removes the format too.
        was_enabled = any(is_true(ctx.before.properties.get(key)) for key in ICEBERG_COMPAT_KEYS)
        yield _problem(
            ctx,
            [_FORMATS, *ICEBERG_COMPAT_KEYS],
            f"{_FORMATS} names iceberg, but no Iceberg compatibility is enabled",
            f"set `{_V2}: true` too, or remove the format",
            None if was_enabled else "DELTA_UNIVERSAL_FORMAT_VIOLATION",
        )
    if "hudi" in formats and is_true(values.get(_VECTORS)):
        yield _problem(
            ctx,
            [_VECTORS, _FORMATS],
            f"{_FORMATS} names hudi, which does not support deletion vectors",
            f"set `{_VECTORS}: false` first",
            "DELTA_UNIVERSAL_FORMAT_VIOLATION",
        )


def _problem(ctx: RuleContext, keys: Sequence[str], message: str, help_: str, error: str | None) -> Problem:
    """Return the problem of several properties, reported at the first one that the edit changes."""
    before, after = ctx.before.properties, ctx.after.properties
    edited = [key for key in keys if before.get(key) != after.get(key)]
    return Problem(message, help=help_, object=ObjectRef("property", (edited or keys)[0]), delta_error=error)
