from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine_answers import takes_reader_version_3_alone
from schemalint.delta.properties import property_problem
from schemalint.delta.requests import PropertyVerdict, judge_property, lacks_writer_version
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule

_READER, _WRITER = "delta.minReaderVersion", "delta.minWriterVersion"


@rule(
    "PF002",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE", "UNSUPPORTED_TABLE_CHANGE"),
    verdict="impossible",
)
def protocol_version_invalid(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract requests a protocol version that does not exist.

    ## What it does

    Finds values of `delta.minReaderVersion` outside 1 to 3, of `delta.minWriterVersion` outside 1 to 7, of
    `delta.ignoreProtocolDefaults` that are not a boolean, and a pair of reader version 3 and a writer version
    below 7; if the contract declares only one version, the rule takes the other from the table. PF001 reports
    valid versions.

    ## Why is this bad?

    Delta refuses such values with `UNSUPPORTED_TABLE_CHANGE`, "delta.minWriterVersion needs to be one of 1,
    2, 3, 4, 5, 6, 7", and reader version 3 without writer version 7 with
    `DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE`. Only `CREATE TABLE` accepts that pair from Delta 3.3
    on, and then creates another protocol; Delta 3.2.1 refuses it too (measured).

    ## What to do

    Remove the lines: see PF001.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.minReaderVersion: 4}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [deletionVectors]
    protocol: {allow_upgrade: true}
    ```
    """
    declared = contract.state.set_properties
    invalid = [
        key for key in declared if judge_property(key, declared[key]) == PropertyVerdict.INVALID_VERSION
    ]
    for key in invalid:
        yield Problem(
            str(property_problem(key, declared[key])),
            help="remove the line, and list features instead",
            object=ObjectRef("property", key),
            new=declared[key],
            delta_error="UNSUPPORTED_TABLE_CHANGE",
        )
    if invalid or not lacks_writer_version(declared, ctx.features):
        return
    key = _READER if _READER in declared else _WRITER
    problem: Problem | None = Problem(
        f"{key}: {declared[key]} gives the table reader version 3 with a writer version below 7"
    )
    if ctx.is_new_table:
        what = "create a table with reader version 3 and a writer version below 7"
        problem = ctx.refusal_of_writer(takes_reader_version_3_alone, what)
    if problem is not None:
        yield replace(
            problem,
            help="remove the line, and list features instead",
            object=ObjectRef("property", key),
            new=declared[key],
            delta_error="DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE",
        )
