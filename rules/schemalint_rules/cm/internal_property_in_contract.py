from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import find_property, property_problem
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.delta.schema_history import MAX_COLUMN_ID
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

# Measured on Delta 4.4.0; it reports every other refused key as unknown.
_REFUSALS = {
    MAX_COLUMN_ID: "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
    "delta.coordinatedCommits.tableConf-preview": "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND",
}

# CREATE TABLE stores their value without parsing it; ALTER TABLE fails in the JSON parser.
_REDIRECTS = ("delta.redirectReaderWriter-preview", "delta.redirectWriterOnly-preview")


@rule(
    "CM009",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
        "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND",
        "DELTA_UNKNOWN_CONFIGURATION",
    ),
    verdict="impossible",
)
def internal_property_in_contract(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract declares a table property that Delta writes itself.

    ## What it does

    Finds Delta's internal properties among `properties`: `delta.columnMapping.maxColumnId` and the ids and
    physical names of columns, the names of row tracking's columns, the marker of an identity column, the
    moment when in-commit timestamps were enabled, and what DROP FEATURE leaves behind.

    ## Why is this bad?

    Delta refuses some of them: with `DELTA_CANNOT_MODIFY_TABLE_PROPERTY`, with
    `DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND`, or with `DELTA_UNKNOWN_CONFIGURATION` if they belong to
    columns or bypass the registry of properties. It accepts the others from any user, and then relies on
    them: a wrong version makes readers look for commits that do not exist. Those are warnings, and so is an
    entry that the live table already has.

    ## What to do

    Remove the line. `apply` leaves unchanged what the contract does not mention.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: 7}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.INTERNAL:
            refused = not ctx.has_value(key, value) and _is_refused(key, exists=not ctx.is_new_table)
            yield Problem(
                f"{key} is an internal property, which Delta writes itself",
                help="remove the line",
                severity=None if refused else Severity.WARNING,
                object=ObjectRef("property", key),
                delta_error=_refusal(key, value) if refused else None,
            )


def _is_refused(key: str, *, exists: bool) -> bool:
    """Return whether Delta refuses the key if a user sets it."""
    if key in _REDIRECTS:
        return exists
    row = find_property(key)
    return key in _REFUSALS or row is None or not row.editable


def _refusal(key: str, value: str) -> str | None:
    """Return the error class; an invalid value fails before Delta checks the key."""
    invalid = key in _REDIRECTS or (find_property(key) and property_problem(key, value))
    if invalid and key != MAX_COLUMN_ID:
        return None
    return _REFUSALS.get(key, "DELTA_UNKNOWN_CONFIGURATION")
