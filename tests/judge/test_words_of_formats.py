"""No finding names what the file that it points into does not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.dialects import said, sql
from schemalint.contract.made_files import dbt
from schemalint.delta.datatype import walk_fields
from schemalint.model.contract import Contract, ManagedHow
from schemalint.report.words import way_text
from support.judging import judge_pair
from support.rule_cases import load_cases
from support.rule_judging import built_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEYS: Final = (
    *("properties", "features", "drop_features", "protocol", "dropped", "renamed_from"),
    *("type_changes", "backfill", "deprecated", "partitioned_by", "clustered_by", "open", "targets"),
)
"""Keys of schemalint's own format that no other one has."""

NATIVE: Final = re.compile(
    rf"`(?:{'|'.join(KEYS)})(?:`|: )|: null`|--fix|under `?dropped|(?<!`)\bclustered_by\b"
    r"|`constraints: \{|under `constraints`"
)
APPLY: Final = re.compile(r"`(?:schemalint )?apply\b")
OVERLAY: Final = re.compile(r"[^;.]*`extends: (?:dbt|sql)`[^;.]*")
"""What a contract beside the file of another format says."""

LEAST: Final = 300
"""So many cases of rules find something there."""


def is_sayable(contract: Contract) -> bool:
    """Whether a contract uses no key that only schemalint's own format has, or one that extends another."""
    return not (
        contract.backfills
        or contract.deprecated
        or contract.rewrites
        or contract.targets
        or contract.drop_features
        or contract.state.requested_features
        or any(field.renamed_from for _path, field in walk_fields(contract.state.columns))
        or contract.state.dropped
    )


def in_dbt(contract: Contract, how: ManagedHow) -> Contract:
    """Return a contract as if dbt declared it, and what dbt cannot say a contract that extends it."""
    return replace(
        said(contract, dbt.EXPRESSES),
        dialect="dbt",
        wording=dbt.WORDING,
        is_edited=False,
        is_made=True,
        managed_by="dbt",
        managed_how=how,
    )


def in_sql(contract: Contract) -> Contract:
    return replace(said(contract, sql.EXPRESSES), dialect="sql", wording=sql.WORDING, is_edited=False)


def changes() -> Iterator[tuple[Contract, Contract]]:
    """Yield base and head of the rules' cases."""
    for case in load_cases():
        if {"before", "after"} <= set(case.texts):
            sides = [contracts.read("contract.yml", case.texts[side]) for side in ("before", "after")]
            pair = [contract for side in sides for contract in side.contracts]
            if len(pair) == len(sides) and all(map(is_sayable, pair)):
                yield pair[0], pair[1]


@pytest.mark.wide
@pytest.mark.parametrize(
    "translated",
    [lambda each: in_dbt(each, "alter"), lambda each: in_dbt(each, "replace"), in_sql],
    ids=["dbt-incremental", "dbt-table", "sql"],
)
def test_no_advice_names_a_key_that_the_format_does_not_have(
    translated: Callable[[Contract], Contract],
) -> None:
    rules = tuple(built_in().values())
    count = 0
    foreign: set[str] = set()
    for before, after in changes():
        base, head = translated(before), translated(after)
        for finding in judge_pair(base, head, rules):
            count += 1
            for text in (finding.message, finding.help, *map(way_text, finding.ways)):
                rest = OVERLAY.sub("", text)
                if NATIVE.search(rest) or (head.managed_by != "schemalint" and APPLY.search(rest)):
                    foreign.add(f"{finding.code} {text}")
    assert count > LEAST
    assert foreign == set()
