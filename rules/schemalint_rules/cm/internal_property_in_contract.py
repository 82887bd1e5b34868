from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import find as find_property
from schemalint.delta.properties import problem as property_problem
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

# Measured on Delta 4.4.0; every other key that it does not take from a user is unknown to it.
_REFUSALS = {
    "delta.columnMapping.maxColumnId": "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
    "delta.coordinatedCommits.tableConf-preview": "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND",
}

# CREATE TABLE stores them unread; ALTER TABLE fails with an error of the JSON parser.
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
)
def internal_property_in_contract(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table property is declared that Delta writes by itself.

    ## What it does

    Finds Delta's own bookkeeping among `properties`: `delta.columnMapping.maxColumnId` and the ids and
    physical names of columns, the names of row tracking's columns, the mark of an identity column, when
    in-commit timestamps were enabled, what DROP FEATURE leaves behind.

    ## Why is this bad?

    Some of them Delta refuses: with `DELTA_CANNOT_MODIFY_TABLE_PROPERTY`, with
    `DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND`, or with `DELTA_UNKNOWN_CONFIGURATION` because they
    belong to columns, or are written past the registry of properties. The others it takes from anybody and
    then believes: a version that is not true makes readers look for commits that are not there. Those are
    warnings, and so is an entry that the live table has already.

    ## What to do

    Take the line away. What the contract does not mention stays as it is.

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
    live = ctx.live.state.properties if ctx.live else {}
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.INTERNAL:
            exists = ctx.base is not None or ctx.live is not None
            refused = live.get(key) != value and _is_refused(key, exists=exists)
            yield Problem(
                f"{key} is written by Delta itself",
                help="take the line away: what the contract does not mention stays as it is",
                severity=None if refused else Severity.WARNING,
                object=ObjectRef("property", key),
                delta_error=_refusal(key, value) if refused else None,
            )


def _is_refused(key: str, *, exists: bool) -> bool:
    """Whether Delta refuses the key from a user."""
    if key in _REDIRECTS:
        return exists
    row = find_property(key)
    return key in _REFUSALS or row is None or not row.editable


def _refusal(key: str, value: str) -> str | None:
    """The error class; a value that cannot be read fails before the key is looked at."""
    unread = key in _REDIRECTS or (find_property(key) and property_problem(key, value))
    if unread and key != "delta.columnMapping.maxColumnId":
        return None
    return _REFUSALS.get(key, "DELTA_UNKNOWN_CONFIGURATION")
