from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.protocol import DEFAULT_FEATURES, features_of_versions
from schemalint.delta.requests import PropertyVerdict, judge_property, lacks_writer_version
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF001", on=Contract, severity=Severity.WARNING)
def protocol_version_in_contract(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract asks for versions of the protocol instead of features.

    ## What it does

    Finds `delta.minReaderVersion`, `delta.minWriterVersion` and `delta.ignoreProtocolDefaults` among
    `properties`, and says which features they would add: a version that is not declared counts as the table
    has it. Values that Delta refuses are PF002's, and an upgrade that is not allowed yet is PF004's.

    ## Why is this bad?

    On an existing table a version means "add every feature that it implies": writer version 4 adds CHECK
    constraints, the change data feed and generated columns to a table that wanted one of them, and locks out
    clients that lack any. A version is never lowered, and a lower one is ignored without a word; writer
    version 7 implies nothing, and on an existing table changes nothing at all. Older pages ask for (2,5)
    before column mapping or (1,4) before the change data feed: Delta adds the one feature by itself today.

    None of the three is stored, so `--live` has nothing to compare them with.

    ## What to do

    Take the lines away. Properties bring their features along; a feature that none brings stands in
    `features`. What `apply` must not pass stands in `protocol: {max_reader: …, max_writer: …}`.

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
    named = [key for key, verdict in verdicts.items() if verdict == PropertyVerdict.VERSION]
    if not named or PropertyVerdict.INVALID_VERSION in verdicts.values():
        return
    if (ctx.base or ctx.live) and lacks_writer_version(declared, ctx.features):
        return
    supported = DEFAULT_FEATURES if ctx.is_new_table else ctx.features
    added = features_of_versions(declared, supported) - supported
    stands_for = f", which stands for {', '.join(sorted(added))}" if added else ""
    yield Problem(
        " and ".join(f"{key}: {declared[key]}" for key in named)
        + f": the contract asks for a version of the protocol{stands_for}",
        help="take the line away, and name under `features` what no property brings along",
        object=ObjectRef("property", named[0]),
        new=", ".join(declared[key] for key in named),
    )
