from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.delta.protocol import canonical
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, judges_all

_REQUIRED: Final = option.optional(
    "required", "properties, each with its value", option.Table(str, option.Exactly(), "properties")
)
_FORBIDDEN: Final = option.optional("forbidden", "properties that no table sets", option.Demanded())
_FEATURES: Final = option.optional(
    "features_forbidden", "table features that no table has", option.Demanded()
)


@rule(
    "PO009",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_REQUIRED, _FORBIDDEN, _FEATURES, APPLIES_TO),
)
def property_not_as_required(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table lacks a property that the team requires, or has a property or a feature that it forbids.

    ## What it does

    Compares the properties of the table with `required` and `forbidden`, and its table features with
    `features_forbidden`: those that it supports, and those that a column or a property of the contract
    needs. With a live table, what it has and the contract does not declare counts. The rule says nothing of
    properties to a declaration whose format has none.

    ## Options

    At least one of the first three; without all of them the rule is silent.

    - `required`: properties, each with its value. `true` and `false` are compared without case, as Delta
      does.
    - `forbidden`: properties that the table must not set, to any value.
    - `features_forbidden`: table features, in Delta's spelling.
    - `applies_to`: `changed` (default) for new tables, and where the value or the feature is new; `all` for
      every table.

    ## Why is this bad?

    A job that reads the change data feed of all tables fails on the one without it. A feature that one
    reader of the lake does not know takes the whole table from it.

    ## What to do

    Declare the property as the help says, or remove it. A feature goes with what needs it: the column of
    that type, the property. For a few tables that differ, give the option another value under `[[tables]]`.

    ## Example

    ```toml title="configuration"
    [options.PO009]
    required = {"delta.enableChangeDataFeed" = "true"}
    forbidden = ["delta.appendOnly"]
    features_forbidden = ["variantType"]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: payload, type: variant}
    properties: {delta.appendOnly: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: payload, type: string}
    properties: {delta.enableChangeDataFeed: true}
    ```
    """
    is_all = judges_all(ctx)
    before: Mapping[str, str] = {} if is_all or ctx.base is None else ctx.base.state.set_properties
    if contract.says("properties") or ctx.live:
        properties = ctx.after.set_properties
        for key, value in ctx.value_of(_REQUIRED) or ():
            is_new = is_all or before.get(key) != contract.state.set_properties.get(key)
            if is_new and not _is(properties.get(key), value):
                now = f"is {properties[key]}" if key in properties else "is not set"
                yield Problem(
                    f"{key} {now}",
                    help=f"set it to {value}",
                    object=ObjectRef("property", key),
                    new=properties.get(key),
                )
        for key in ctx.value_of(_FORBIDDEN) or ():
            is_new = is_all or before.get(key) != contract.state.set_properties.get(key)
            if is_new and key in properties:
                yield Problem(
                    f"{key} is set, and no table sets it",
                    help="remove it",
                    object=ObjectRef("property", key),
                    new=properties[key],
                )
    known = frozenset[str]() if is_all or ctx.base is None else ctx.base.created_features
    features = (ctx.features if is_all else frozenset()) | contract.created_features
    for forbidden in ctx.value_of(_FEATURES) or ():
        name = canonical(forbidden)
        if name in features and name not in known:
            yield Problem(
                f"the table has the feature {name}, and no table has it",
                help="remove the column or the property that needs it",
                object=ObjectRef("feature", name),
            )


def _is(value: str | None, wanted: str) -> bool:
    if value is not None and wanted.lower() in ("true", "false"):
        return value.lower() == wanted.lower()
    return value == wanted
