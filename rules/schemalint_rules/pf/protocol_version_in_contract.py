from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.protocol import DEFAULT_FEATURES, features_of_new_table, features_of_versions
from schemalint.delta.requests import PropertyVerdict, judge_property, lacks_writer_version
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF001", on=Contract, severity=Severity.WARNING)
def protocol_version_in_contract(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract requests protocol versions instead of features.

    ## What it does

    Finds `delta.minReaderVersion`, `delta.minWriterVersion` and `delta.ignoreProtocolDefaults` among
    `properties`, and reports which features they add, or that they change nothing; if the contract declares
    only one version, the rule takes the other from the table. PF002 reports values that Delta refuses, and
    PF004 an upgrade that is not allowed yet.

    ## Why is this bad?

    On an existing table a version means "add every feature that it implies": writer version 4 adds CHECK
    constraints, the change data feed and generated columns to a table that needs one of them, and locks out
    clients that lack any. A version never decreases: Delta silently ignores a lower one. Writer version 7
    implies nothing, and changes nothing on an existing table. Only a new table can get fewer features than
    Delta's default: with a lower version, or with `delta.ignoreProtocolDefaults`, which an existing table
    ignores. Older documentation asks for (2,5) before
    column mapping or (1,4) before the change data feed: current Delta adds the one feature by itself.

    Delta stores none of the three, so `--live` has nothing to compare them with.

    ## What to do

    Remove the lines. Properties add their features; list the features that no property adds under `features`.
    Limit what `apply` may upgrade to with `protocol: {max_reader: …, max_writer: …}`.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.minReaderVersion: 2, delta.minWriterVersion: 5, delta.columnMapping.mode: name}
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
    declared = contract.state.set_properties
    verdicts = {key: judge_property(key, value) for key, value in declared.items()}
    version_keys = [key for key, verdict in verdicts.items() if verdict == PropertyVerdict.VERSION]
    if not version_keys or PropertyVerdict.INVALID_VERSION in verdicts.values():
        return
    if not ctx.is_new_table and lacks_writer_version(declared, ctx.features):
        return
    if ctx.is_new_table:
        supported, result = DEFAULT_FEATURES, features_of_new_table(frozenset(), (), declared)
    else:
        supported, result = ctx.features, ctx.features | features_of_versions(declared, ctx.features)
    yield Problem(
        " and ".join(f"{key}: {declared[key]}" for key in version_keys)
        + f": the contract requests a protocol version, which {_effect(supported, result)}",
        help=f"remove the line, and list the features that no property adds {ctx.wording.list_features}",
        object=ObjectRef("property", version_keys[0]),
        new=", ".join(declared[key] for key in version_keys),
    )


def _effect(before: frozenset[str], after: frozenset[str]) -> str:
    if added := sorted(after - before):
        return f"adds {', '.join(added)}"
    missing = sorted(before - after)
    if missing:
        return f"leaves out {', '.join(missing)}"
    return "changes nothing"
