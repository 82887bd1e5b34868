from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.delta.engine_answers import compares_retentions
from schemalint.delta.properties import (
    COLUMN_MAPPING_MODE,
    is_true,
    property_problem,
    property_value,
)
from schemalint.delta.property_values import parse_interval
from schemalint.delta.table import LiveTable, TableState
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule

_TRACKING, _SUSPENDED = "delta.enableRowTracking", "delta.rowTrackingSuspended"
_VECTORS, _MANIFEST = "delta.enableDeletionVectors", "delta.compatibility.symlinkFormatManifest.enabled"
_LOG, _FILES = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"
_COORDINATOR = "delta.coordinatedCommits.commitCoordinator-preview"
_COORDINATOR_CONF = "delta.coordinatedCommits.commitCoordinatorConf-preview"

_MANIFEST_ERROR = (
    "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED."
    "PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION"
)
_MAPPING_ERROR = "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING"
_TRACKING_ERROR = "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"
_COORDINATOR_ERROR = "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND"


@rule(
    "TP003",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(
        "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
        "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
        "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND",
        "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING",
        "UNSUPPORTED_TABLE_CHANGE",
    ),
    verdict="impossible",
)
def property_conflict(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """Two table properties exclude each other.

    ## What it does

    Checks the properties that the table has once the contract is applied, if the contract declares at least
    one of the two:

    - the table keeps deleted files longer than the log (`delta.deletedFileRetentionDuration`, one week by
      default, exceeds `delta.logRetentionDuration`, 30 days by default);
    - deletion vectors are enabled together with `delta.compatibility.symlinkFormatManifest.enabled`;
    - column mapping is on together with `delta.compatibility.symlinkFormatManifest.enabled`; of a live table
      that has both, declared or not, the rule reports this too;
    - row tracking is enabled and suspended;
    - only one of the two settings of a commit coordinator is set.

    RD008 checks the properties that Iceberg compatibility excludes.

    ## Why is this bad?

    Each value is valid by itself, so TP002 does not report it, but Delta refuses the pair: with
    `UNSUPPORTED_TABLE_CHANGE` ("needs to be less than or equal to delta.logRetentionDuration"),
    `DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED`, `DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION` and
    `DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND`. `CREATE TABLE` accepts suspended row tracking,
    so there it is a warning; any later statement on these properties fails.

    `CREATE TABLE` and `ALTER TABLE` accept a manifest together with column mapping. From then on every write
    commits its rows and fails afterwards, with `DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING`: a
    job that tries again writes its rows twice.
    Manifests agree with the change data feed, row tracking, type widening, clustering and partitions. All
    this is measured on Delta 4.4.0.

    Delta compares the two retentions only within one statement, and uses the default for a property that the
    statement does not name; Delta 4.0 and older releases do not compare them. A pair that no statement can
    set is an error. A pair that Delta accepts although files outlive the log is a warning: the table keeps
    files of versions that time travel can no longer reach.

    ## What to do

    Change one of the two. Keep the log at least as long as the deleted files. If a live table has a manifest
    together with column mapping, disable the manifest (`delta.compatibility.symlinkFormatManifest.enabled:
    null`), and look for rows that were written twice.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.deletedFileRetentionDuration: interval 60 days}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties:
      delta.deletedFileRetentionDuration: interval 60 days
      delta.logRetentionDuration: interval 60 days
    ```
    """
    if isinstance(fact, LiveTable):
        if _has_mapped_manifest(fact.state):
            yield _mapped_manifest(fact.state)
        return
    declared = fact.state.set_properties
    for keys, problem in _conflicts(ctx):
        conflicting = [key for key in keys if key in declared]
        edited = [key for key in conflicting if ctx.before.properties.get(key) != declared[key]]
        for key in (edited or conflicting)[:1]:
            yield replace(problem, object=ObjectRef("property", key), new=declared[key])


def _conflicts(ctx: RuleContext) -> Iterator[tuple[tuple[str, str], Problem]]:
    """Yield each problem with its pair of keys; the first is reported if the edit changes both or none."""
    yield from _retention(ctx)
    values = ctx.after.properties
    if is_true(values.get(_VECTORS)) and is_true(values.get(_MANIFEST)):
        message = f"{_MANIFEST} and {_VECTORS} cannot both be true"
        help_ = "a manifest does not support deletion vectors: disable one of the two"
        yield (_VECTORS, _MANIFEST), Problem(message, help=help_, delta_error=_MANIFEST_ERROR)
    elif _has_mapped_manifest(ctx.after) and _is_mode_possible(ctx) and not _is_live(ctx):
        problem = _mapped_manifest(ctx.after)
        yield (COLUMN_MAPPING_MODE, _MANIFEST), replace(problem, delta_error=_MAPPING_ERROR)
    if is_true(values.get(_TRACKING)) and is_true(values.get(_SUSPENDED)):
        message = f"{_TRACKING} and {_SUSPENDED} cannot both be true"
        help_ = f"set one of the two to false: suspended row tracking needs `{_TRACKING}: false`"
        yield (_TRACKING, _SUSPENDED), _refused_if(not ctx.is_new_table, message, help_, _TRACKING_ERROR)
    for key, other in ((_COORDINATOR, _COORDINATOR_CONF), (_COORDINATOR_CONF, _COORDINATOR)):
        value = values.get(key)
        is_new = ctx.before.properties.get(key) != value  # Delta does not look at what a table has already
        if is_new and value is not None and other not in values and property_problem(key, value) is None:
            message = f"{key} is set without {other}"
            yield (key, other), Problem(message, help="set both or none", delta_error=_COORDINATOR_ERROR)


def _has_mapped_manifest(state: TableState) -> bool:
    return state.enabled(_MANIFEST) and state.column_mapping in ("name", "id")


def _mapped_manifest(state: TableState) -> Problem:
    """Return the problem without an error class: Delta refuses writes, not the statement that mends it."""
    return Problem(
        f"{_MANIFEST} is true and column mapping is {state.column_mapping}: every write commits its rows, "
        "then fails",
        help="disable one of the two; a job that repeats a failed write has written its rows twice",
        object=ObjectRef("property", _MANIFEST),
    )


def _is_mode_possible(ctx: RuleContext) -> bool:
    """Return whether Delta sets the mode; CM004 reports the modes that it refuses."""
    before, after = ctx.before.column_mapping, ctx.column_mapping
    return ctx.is_new_table or before == after or (before, after) == ("none", "name")


def _is_live(ctx: RuleContext) -> bool:
    """Return whether the live table has both already: then the finding is about the table."""
    return ctx.live is not None and _has_mapped_manifest(ctx.live.state)


def _retention(ctx: RuleContext) -> Iterator[tuple[tuple[str, str], Problem]]:
    declared = {key: ctx.contract.state.set_properties.get(key) for key in (_FILES, _LOG)}
    declared = {key: value for key, value in declared.items() if value is not None}
    changed = {key: value for key, value in declared.items() if ctx.before.properties.get(key) != value}
    # The ways to set them: all changes in one statement, all declared values, or a statement per change.
    statement_lists = ([changed], [declared], [{key: value} for key, value in changed.items()])
    refused = compares_retentions(ctx.engine) and bool(changed)
    refused = refused and all(any(map(_outlives_log, statements)) for statements in statement_lists)
    values = ctx.after.properties
    if refused or _outlives_log(values):
        files, log = property_value(_FILES, values), property_value(_LOG, values)
        message = f"{_FILES} ({files}) is longer than {_LOG} ({log})"
        help_ = f"set {_LOG} to at least the same duration"
        yield (_FILES, _LOG), _refused_if(refused, message, help_, "UNSUPPORTED_TABLE_CHANGE")


def _outlives_log(values: Mapping[str, str | None]) -> bool:
    """Return whether deleted files are kept longer than the log; a missing value is Delta's default."""
    durations = [property_value(key, values) for key in (_FILES, _LOG)]
    if any(value is None or property_problem(_LOG, value) is not None for value in durations):
        return False
    files, log = (parse_interval(value or "") or 0 for value in durations)
    return files > log


def _refused_if(refused: bool, message: str, help_: str, error: str) -> Problem:  # noqa: FBT001 (the name says it)
    return Problem(
        message,
        help=help_,
        severity=None if refused else Severity.WARNING,
        delta_error=error if refused else None,
    )
