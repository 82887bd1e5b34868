"""Plan files, which `plan --out` writes and `apply --plan` reads: all that a table's steps are planned from.

The statements in a file are for its readers. No command runs them: `apply --plan` plans the steps again from
the declaration, the state of the table and the pairing of columns.
"""

from __future__ import annotations

import json
from typing import Final, Literal

from schemalint.base import limits
from schemalint.base.errors import UsageError
from schemalint.base.json_object import JsonObject
from schemalint.base.printable import visible
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import Field, Struct, map_fields
from schemalint.delta.engine import Engine, parse_engine
from schemalint.delta.path import Path, path_to_json
from schemalint.delta.schema_json import allow_recursion, load_json
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Backfill, Contract, WaysOut, WriterPermissions, table_key
from schemalint.model.effective import EVERYWHERE, Effective, effective
from schemalint.model.json_forms import (
    consumer_from_json,
    consumer_to_json,
    own_json,
    path_of,
    state_from_json,
    state_to_json,
)
from schemalint.model.revision_columns import with_numbers
from schemalint.model.rewrite import ColumnRewrite, Rewrites
from schemalint.model.table_plan import PLAN_FORMAT, Refusal, RefusalKind, TablePlan, hash_of_tables
from schemalint.planner import PlanOptions

_FILED: Final = Refusal(RefusalKind.OPERATION, "of a plan file")


@frozen
class Origin:
    """What the steps of a table were planned from.

    Attributes:
        contract: The declaration: what the table's effective contract manages, and its consumers.
        planned_from: The state of the live table; None if the plan creates it.
        options: The options of the planner.
        applied_hash: The hash of the declaration in the table's marker; None without one.
    """

    contract: Effective
    planned_from: TableState | None
    options: PlanOptions
    applied_hash: str | None = None


@frozen
class FiledTable:
    """A table in a plan file.

    Attributes:
        table: The name in the contract.
        name: The full catalog name; None if the statements use the location.
        uri: The location.
        table_id: The id of the live table; None if the plan creates it.
        version: The version of the live table at planning time.
        declaration_hash: The hash of the declaration.
        hash: The hash of the table's plan.
        has_steps: Whether the plan has statements for the table.
        origin: What the steps were planned from; None without steps, and if a credential is part of it.
        refusals: Why the table has no steps.
    """

    table: str
    name: str | None
    uri: str
    table_id: str | None
    version: int | None
    declaration_hash: str
    hash: str
    has_steps: bool
    origin: Origin | None
    refusals: tuple[Refusal, ...]


@frozen
class PlanFile:
    """A plan file."""

    target: str | None
    hash: str
    tables: tuple[FiledTable, ...]
    engine: Engine | None = None


def origin_to_json(plan: TablePlan, contract: Contract) -> dict[str, object] | None:
    """Return what the steps of a table are planned from; None for a table without steps."""
    if not plan.steps:
        return None
    return {
        "declared": {
            "file": contract.file,
            "location": contract.location,
            "drop_features": sorted(contract.drop_features),
            "truncated_features": sorted(contract.truncated_features),
            "open_widening": contract.open.widening,
            "backfills": [
                {
                    "column": path_to_json(path),
                    "from": path_to_json(backfill.source),
                    "with": backfill.expression,
                    "keeps_null": backfill.ways_out.keeps_null,
                    "keeps_converted": backfill.ways_out.keeps_converted,
                    "differing": backfill.ways_out.differing,
                    "time_zone": backfill.time_zone,
                    "outlived": backfill.outlived,
                }
                for path, backfill in contract.backfills.items()
            ],
            "rewrites": [
                {
                    "column": path_to_json(path),
                    "from": print_type(rewrite.source),
                    "with": rewrite.expression,
                    "keeps_null": rewrite.keeps_null,
                    "keeps_converted": rewrite.keeps_converted,
                    "time_zone": rewrite.time_zone,
                }
                for path, rewrite in contract.rewrites.columns.items()
            ],
            "rewritten_from": _names_to_json(contract.rewrites.partitioned_by),
            **state_to_json(contract.state),
        },
        "consumers": [consumer_to_json(consumer) for consumer in contract.consumers],
        "planned_from": None if plan.live is None else state_to_json(plan.live),
        "tracking": None if plan.tracking is None else _tracking_to_json(plan.tracking),
        "reorder": plan.reorder,
        "applied": None if plan.marker is None else plan.marker.hash,
    }


def read_plan_file(path: str) -> PlanFile:
    """Read a plan file.

    Raises:
        UsageError: The file cannot be read, or is not a plan of this format.
    """
    try:
        text = read_given(path, limits.MAX_PLAN_FILE)
        allow_recursion(text)
        content = own_json(load_json(text, strict=True))
        if "version" not in content:
            raise ValueError("version is missing")  # noqa: TRY301 (as all wrong content)
        if (version := content.content["version"]) != PLAN_FORMAT:
            raise UsageError(
                f"{path} has another plan format: {visible(repr(version)[:40])}", help="plan again"
            )
        tables = tuple(map(_table, content.objects("tables")))
        if len({table_key(table.table) for table in tables}) < len(tables):
            raise ValueError("it has a table twice")  # noqa: TRY301 (as all wrong content)
        hash_ = content.text("hash")
        if hash_ != hash_of_tables(table.hash for table in tables if table.has_steps):
            raise ValueError("its hash is not that of its tables")  # noqa: TRY301 (as all wrong content)
        engine = content.nullable("engine", str)
        return PlanFile(
            content.nullable("target", str),
            hash_,
            tables,
            None if engine is None else parse_engine(engine),
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = f": {error}" if str(error) and not isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"{path} is not a plan{reason}", help="schemalint plan --out plan.json") from None


def _table(content: JsonObject) -> FiledTable:
    table = content.text("table")
    origin = None
    if content.nullable("origin", dict) is not None:
        origin = _origin(table, content.inner("origin"))
    return FiledTable(
        table=table,
        name=content.nullable("name", str),
        uri=content.text("uri"),
        table_id=content.nullable("table_id", str),
        version=content.nullable("version", int),
        declaration_hash=content.text("declaration"),
        hash=content.text("hash"),
        has_steps=any(True for _step in content.items("steps")),
        origin=origin,
        refusals=tuple(map(_refusal, content.objects("refusals"))),
    )


def _refusal(content: JsonObject) -> Refusal:
    kinds = {kind.name.lower(): kind for kind in RefusalKind}
    if (kind := kinds.get(content.text("kind"))) is None:
        raise ValueError("the kind of a refusal is unknown")
    code = content.nullable("code", str)
    return replace(_FILED, kind=kind, reason=content.text("reason"), help=content.text("help"), code=code)


def _origin(table: str, content: JsonObject) -> Origin:
    declared = content.inner("declared")
    partitioned_by = None
    if declared.nullable("rewritten_from", list) is not None:
        partitioned_by = declared.texts("rewritten_from")
    contract = Contract(
        table,
        state_from_json(declared),
        location=declared.nullable("location", str),
        drop_features=frozenset(declared.texts("drop_features")),
        truncated_features=frozenset(declared.texts("truncated_features")),
        open=WriterPermissions(widening=declared.flag("open_widening")),
        backfills=dict(map(_backfill, declared.objects("backfills"))),
        rewrites=Rewrites(dict(map(_rewrite, declared.objects("rewrites"))), partitioned_by),
        consumers=tuple(map(consumer_from_json, content.objects("consumers"))),
        file=declared.text("file"),
    )
    live, before = None, TableState()
    if content.nullable("planned_from", dict) is not None:
        live = before = state_from_json(content.inner("planned_from"))
    tracking = None
    if content.nullable("tracking", dict) is not None:
        tracking = _tracking(content.inner("tracking"), contract.state.columns, before.columns)
    options = PlanOptions(tracking, reorder=content.flag("reorder"))
    return Origin(effective(contract, EVERYWHERE), live, options, content.nullable("applied", str))


def _backfill(content: JsonObject) -> tuple[Path, Backfill]:
    ways_out = WaysOut(
        content.flag("keeps_null"),
        content.flag("keeps_converted"),
        _differing(content.nullable("differing", str)),
    )
    return path_of(content, "column"), Backfill(
        path_of(content, "from"),
        content.text("with"),
        ways_out,
        content.nullable("time_zone", str),
        outlived=content.flag("outlived"),
    )


def _names_to_json(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else [*names]


def _rewrite(content: JsonObject) -> tuple[Path, ColumnRewrite]:
    return path_of(content, "column"), ColumnRewrite(
        parse_type(content.text("from")),
        content.text("with"),
        content.flag("keeps_null"),
        content.flag("keeps_converted"),
        content.nullable("time_zone", str),
    )


def _differing(text: str | None) -> Literal["keep_new", "refill"] | None:
    match text:
        case "keep_new" | "refill" | None:
            return text
        case _:
            raise ValueError(f"{text!r} is not what differing values are declared to be")


def _tracking_to_json(tracking: ColumnTracking) -> dict[str, object]:
    """Return the numbers of the declared and of the live fields, in the order of `map_fields`."""
    return {
        "declared": _numbers(tracking.declared),
        "live": _numbers(tracking.live),
        "gone": sorted(tracking.gone),
        "applied": {str(number): name for number, name in sorted(tracking.applied.items())},
        "retaken": [list(path) for path in sorted(tracking.retaken)],
        "origins": {str(number): name for number, name in sorted(tracking.origins.items())},
    }


def _tracking(content: JsonObject, declared: Struct, live: Struct) -> ColumnTracking:
    retaken = [content.require(item, list, path) for item, path in content.items("retaken")]
    return ColumnTracking(
        declared=_numbered(declared, content, "declared"),
        live=_numbered(live, content, "live"),
        gone=frozenset(content.numbers("gone")),
        applied=_names(content, "applied"),
        retaken=frozenset(tuple(content.require(name, str, "retaken") for name in path) for path in retaken),
        origins=_names(content, "origins"),
    )


def _numbers(columns: Struct) -> list[int | None]:
    numbers: list[int | None] = []

    def collect(_path: Path, field: Field) -> Field:
        numbers.append(field.column_id)
        return field

    map_fields(columns, collect)
    return numbers


def _numbered(columns: Struct, content: JsonObject, key: str) -> Struct:
    numbers = [
        None if item is None else content.require(item, int, path) for item, path in content.items(key)
    ]
    if len(numbers) != len(_numbers(columns)):
        raise ValueError("each column needs a number")
    return with_numbers(columns, iter(numbers))


def _names(content: JsonObject, key: str) -> dict[int, str]:
    return {int(number): name for number, name in content.pairs(key).items()}
