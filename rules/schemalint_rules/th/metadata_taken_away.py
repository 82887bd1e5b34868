from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import (
    Change,
    CommentChanged,
    ConstraintChanged,
    DefaultChanged,
    DescriptionChanged,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PropertyChanged,
    TypeChanged,
)
from schemalint.delta.datatype import Char, String, Unmanaged, Varchar
from schemalint.delta.diff import diff
from schemalint.delta.history import HistoryStep, changes
from schemalint.delta.path import format_path
from schemalint.delta.type_history import replaces_all_files
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

# Operations that add, change or move rows (DeltaOperations.scala). Delta keeps all metadata in them, also
# with mergeSchema (measured on Delta 4.4.0).
_ROWS = frozenset(
    {"WRITE", "STREAMING UPDATE", "MERGE", "UPDATE", "DELETE", "TRUNCATE", "COPY INTO", "OPTIMIZE", "REORG"}
)
_SET_AGAIN = "set it again; `apply` does so if the contract declares it"


@rule("TH015", on=HistoryStep, severity=Severity.ERROR)
def metadata_taken_away(step: HistoryStep, ctx: RuleContext) -> Iterator[Problem]:
    """A commit that writes rows took metadata away from the table.

    ## What it does

    Reads the commits of the log whose operation is about rows: WRITE, MERGE, UPDATE, STREAMING UPDATE and the
    like. The rule reports what such a commit took away and the table still lacks: a generation expression, an
    identity, a default, `NOT NULL`, a length (`varchar(n)`), a constraint, a property, and, as a warning, a
    comment. ALTER TABLE, CREATE OR REPLACE, RESTORE and writes that replace all files, as `overwriteSchema`
    does, are no findings.

    ## Why is this bad?

    A writer that does not know the metadata of a field writes the schema without it when it adds a column or
    appends rows. Nothing fails: from then on nobody computes the column, checks the constraint or fills the
    default, and the rows differ. Delta Spark never takes metadata away in a commit of rows, not with
    `mergeSchema` either (measured on Delta 4.4.0).

    ## What to do

    Find the writer, and stop it. Set again what a statement can set: defaults, constraints, properties,
    comments. The rest comes back with `RESTORE TABLE … TO VERSION AS OF` the version before, without the rows
    since, or by rewriting the table with `CREATE OR REPLACE TABLE`. Then look at the rows since that commit.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 4}
      metaData:
        fields: [{name: at, type: timestamp},
                 {name: day, type: date, metadata: {delta.generationExpression: CAST(at AS DATE)}}]
    - commitInfo: {operation: WRITE, engineInfo: "delta-rs:0.20", operationParameters: {mode: Append}}
      metaData: {fields: [{name: at, type: timestamp}, {name: day, type: date}]}
      add: {path: part-0.parquet}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 4}
      metaData:
        fields: [{name: at, type: timestamp},
                 {name: day, type: date, metadata: {delta.generationExpression: CAST(at AS DATE)}}]
    - commitInfo: {operation: WRITE, engineInfo: "delta-rs:0.20", operationParameters: {mode: Append}}
      add: {path: part-0.parquet}
    ```
    """
    if step.before is None or step.entry.operation not in _ROWS or replaces_all_files(step.entry):
        return
    losses = [(change, loss) for change in changes(step) if (loss := _loss(change)) is not None]
    lasting = set(diff(step.before.state, ctx.before)) if losses else set()
    for change, (what, effect) in losses:
        if change in lasting:
            yield _problem(step, change, what, effect)


def _problem(step: HistoryStep, change: Change, what: str, effect: str) -> Problem:
    entry = step.entry
    writer = f"; {entry.engine} wrote it" if entry.engine else ""
    can_be_set = not isinstance(change, GeneratedChanged | IdentityChanged | NullabilityChanged | TypeChanged)
    restore = f"restore version {entry.version - 1}, or rewrite the table: no statement sets it again"
    is_text = isinstance(change, CommentChanged | DescriptionChanged)
    return Problem(
        f"{step.title} took {what} away: {effect}{writer}",
        help=_SET_AGAIN if can_be_set else restore,
        severity=Severity.WARNING if is_text else None,
        path=getattr(change, "path", None),
    )


def _loss(change: Change) -> tuple[str, str] | None:
    """Return what a change takes away, and what follows; None if it takes nothing away."""
    match change:
        case GeneratedChanged(path=path, old=str(text), new=None):
            return f"the generation expression of {format_path(path)} ({text})", "nobody computes it any more"
        case IdentityChanged(path=path, new=None):
            return f"the identity of {format_path(path)}", "new rows get no number"
        case DefaultChanged(path=path, old=str(text), new=None):
            return f"the default of {format_path(path)} ({text})", "rows that leave it out get NULL"
        case NullabilityChanged(path=path, old=False, new=True):
            return f"NOT NULL of {format_path(path)}", "nulls are accepted"
        case TypeChanged(path=path, old=Char() | Varchar() as old, new=String()):
            return f"the length of {format_path(path)} ({print_type(old)})", "longer texts are accepted"
        case CommentChanged(path=path, old=str(), new=None):
            return f"the comment of {format_path(path)}", "readers do not see it any more"
        case DescriptionChanged(old=str(), new=None):
            return "the table's comment", "readers do not see it any more"
        case ConstraintChanged(name=name, old=str(text), new=None | Unmanaged()):
            return f"the constraint {name} ({text})", "nobody checks it any more"
        case PropertyChanged(key=key, old=str(value), new=None | Unmanaged()):
            return f"the property {key} ({value})", "it has no effect any more"
        case _:
            return None
