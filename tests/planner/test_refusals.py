"""`check` has an error for every refusal that it can know; each other one says what to do.

A refusal of the kind DECLARATION has an error in `check`, one of the kind LIVE in `check --live`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from schemalint import contract as contracts
from schemalint.model.table_plan import RefusalKind
from support.refusals_in_code import refusals_in_code
from support.rule_cases import load_cases
from support.seam import created_table, errors, refusals

if TYPE_CHECKING:
    from schemalint.model.contract import Contract

WRITTEN: Final = refusals_in_code()
MAPPED: Final = "properties: {delta.columnMapping.mode: name}"
WIDENS: Final = "properties: {delta.enableTypeWidening: true}"
ID: Final = "{name: id, type: bigint}"


class Edit(NamedTuple):
    """An edit that the planner refuses.

    Attributes:
        text: The refusal, with ``…`` for what is filled in: all of it for the obstacles of a feature's drop.
        base: The columns of the contract applied last, and more keys after a line break; None if there is no
            table yet.
        head: The same of the contract to apply.
        live: The same of a contract that creates the live table, if it differs from `base`.
    """

    text: str
    base: str | None
    head: str
    live: str | None = None

    @property
    def kind(self) -> str:
        """The refusal's kind: only a live table that differs shows what `check` cannot know without it."""
        return (RefusalKind.LIVE if self.live else RefusalKind.DECLARATION).name


EDITS: Final = (
    Edit("…", f"{ID}\nfeatures: [appendOnly]", f"{ID}\ndrop_features: [appendOnly]"),
    Edit(
        "…",
        f"{ID}\nconstraints: {{c: id > 0}}",
        f"{ID}\nconstraints: {{c: id > 0}}\ndrop_features: [checkConstraints]",
    ),
    Edit("…", f"{ID}\n{MAPPED}", f"{ID}\n{MAPPED}\ndrop_features: [columnMapping]"),
    Edit("…", None, f"{ID}\n{WIDENS}\ndrop_features: [typeWidening]"),
    Edit("…", ID, f"{ID}\ndrop_features: [checkConstraints]", f"{ID}\nconstraints: {{c: id > 0}}"),
    Edit("… …", ID, f'{ID}, {{name: a, type: int, default: "1) --"}}\nfeatures: [allowColumnDefaults]'),
    Edit("… …", None, f'{ID}\nconstraints: {{c: "id > 0); DROP TABLE t"}}'),
    Edit(
        "the expression that fills … …",
        ID,
        f'{ID}, {{name: a, type: string, backfill: {{from: id, with: "reflect(id)"}}}}',
    ),
    Edit(
        "the expression that fills … does not read …",
        f"{ID}, {{name: b, type: int}}",
        f"{ID}, {{name: b, type: int}}, {{name: a, type: bigint, backfill: {{from: b, with: id}}}}",
    ),
    Edit(
        "the expression that fills … reads …, which is dropped while its source stays",
        f"{ID}, {{name: b, type: bigint}}\n{MAPPED}",
        f"{ID}, {{name: a, type: bigint, backfill: {{from: id, with: id + b}}}}\ndropped: [b]\n{MAPPED}",
    ),
    Edit(
        "… cannot be filled: …",
        f'{ID}, {{name: b, type: "array<int>"}}',
        f'{ID}, {{name: b, type: "array<int>"}}, '
        "{name: a, type: bigint, backfill: {from: b.element, with: id}}",
    ),
    Edit(
        "the expression that rewrites … …",
        f"{ID}, {{name: a, type: string}}",
        f'{ID}, {{name: a, type: int, rewrite: {{from: string, with: "reflect(a)"}}}}',
    ),
    Edit(
        "the expression that rewrites … does not read it",
        f"{ID}, {{name: a, type: string}}",
        f'{ID}, {{name: a, type: int, rewrite: {{from: string, with: "cast(id as int)"}}}}',
    ),
    Edit(
        "its columns are rewritten in different time zones, and one statement has one",
        f"{ID}, {{name: a, type: string}}, {{name: b, type: string}}",
        f'{ID}, {{name: a, type: date, rewrite: {{from: string, with: "cast(a as date)"}}}}, '
        '{name: b, type: date, rewrite: {from: string, with: "cast(b as date)", time_zone: Europe/Berlin}}',
    ),
    Edit(
        "the table cannot be rewritten: …",
        f"{ID}, {{name: a, type: string, nullable: false}}",
        f'{ID}, {{name: a, type: int, rewrite: {{from: string, with: "cast(a as int)"}}}}',
    ),
    Edit("… is the name of another column too: Delta ignores case", None, f"{ID}, {{name: ID, type: int}}"),
    Edit("… is the name of another column too: Delta ignores case", ID, f"{ID}, {{name: ID, type: int}}"),
    Edit("the property … is reserved for schemalint", ID, f"{ID}\nproperties: {{schemalint.pending: x}}"),
    Edit("Spark reserves the property …", ID, f"{ID}\nproperties: {{owner: me}}"),
    Edit(
        "`nullable: false` inside … cannot be applied",
        None,
        "{name: a, type: array, element: {type: int, nullable: false}}",
    ),
    Edit(
        "`nullable: false` inside … cannot be applied",
        ID,
        f"{ID}, {{name: m, type: map, key: {{type: int}}, value: {{type: int, nullable: false}}}}",
    ),
    Edit(
        "a partitioned table cannot be clustered",
        f"{ID}, {{name: d, type: date}}\npartitioned_by: [d]",
        f"{ID}, {{name: d, type: date}}\npartitioned_by: [d]\nclustered_by: [id]",
    ),
    Edit(
        "the constraint … uses …, which the contract drops",
        f"{ID}, {{name: a, type: int}}\n{MAPPED}\nconstraints: {{c: a > 0}}",
        f"{ID}\n{MAPPED}\ndropped: [a]\nconstraints: {{c: a > 0}}",
    ),
    Edit(
        "the generation expression of … cannot be changed in place",
        f"{ID}, {{name: g, type: bigint, generated: id}}",
        f"{ID}, {{name: g, type: bigint, generated: id + 1}}",
    ),
    Edit(
        "the identity of … cannot be changed in place",
        f"{ID}, {{name: n, type: bigint, identity: {{start: 1, step: 1}}}}",
        f"{ID}, {{name: n, type: bigint, identity: {{start: 1, step: 2}}}}",
    ),
    Edit(
        "the nullability of … cannot be changed",
        "{name: a, type: array, element: {type: int, nullable: false}}",
        "{name: a, type: array, element: {type: int, nullable: true}}",
    ),
    Edit(
        "the nullability of … cannot be changed",
        '{name: a, type: "array<int>"}',
        "{name: a, type: array, element: {type: int, nullable: false}}",
    ),
    Edit(
        "the partitioning cannot be changed in place",
        f"{ID}, {{name: d, type: date}}\npartitioned_by: [d]",
        f"{ID}, {{name: d, type: date}}\npartitioned_by: []",
    ),
    Edit("… cannot be added as a generated column", ID, f"{ID}, {{name: g, type: bigint, generated: id}}"),
    Edit(
        "… cannot be added as an identity column",
        ID,
        f"{ID}, {{name: n, type: bigint, identity: {{start: 1, step: 1}}}}",
    ),
    Edit(
        "… cannot be added: Delta would lose the other lengths in …",
        '{name: s, type: "struct<x: varchar(3)>"}',
        '{name: s, type: "struct<x: varchar(3), y: varchar(3)>"}',
    ),
    Edit(
        "… cannot be added: it is renamed from …, which does not exist",
        f"{ID}\n{MAPPED}",
        f"{ID}, {{name: a, type: int, renamed_from: b}}\n{MAPPED}",
    ),
    Edit(
        "… cannot be added: it is renamed from …, which does not exist",
        f"{ID}\n{MAPPED}",
        f"{ID}, {{name: s, type: struct, columns: [{{name: a, type: int, renamed_from: b}}]}}\n{MAPPED}",
    ),
    Edit(
        "… cannot be dropped: the table is partitioned by it",
        f"{ID}, {{name: d, type: date}}\npartitioned_by: [d]\n{MAPPED}",
        f"{ID}\ndropped: [d]\n{MAPPED}",
    ),
    Edit("… cannot become NOT NULL", ID, "{name: id, type: bigint, nullable: false}"),
    Edit("… cannot become …", '{name: a, type: "array<string>"}', '{name: a, type: "array<varchar(3)>"}'),
    Edit(
        "… cannot become …",
        '{name: a, type: "map<varchar(3), int>"}',
        '{name: a, type: "map<varchar(5), int>"}',
    ),
    Edit(
        "… cannot change to or from a struct, array or map in place", ID, '{name: id, type: "array<bigint>"}'
    ),
    Edit(
        "… itself cannot be altered: Delta would damage its nested types, because some are char or varchar",
        '{name: s, type: "struct<x: varchar(3)>"}',
        '{name: s, type: "struct<x: varchar(3)>", comment: changed}',
    ),
    Edit(
        "an undeclared column … exists already",
        f"{ID}, {{name: a, type: int}}\n{MAPPED}",
        f"{ID}, {{name: b, type: int, renamed_from: a}}\n{MAPPED}",
        f"{ID}, {{name: a, type: int}}, {{name: b, type: int}}\n{MAPPED}",
    ),
    Edit(
        "column mapping cannot be removed: the table has a clustering that the contract does not manage",
        f"{ID}\n{MAPPED}",
        f"{ID}\nproperties: {{delta.columnMapping.mode: none}}",
        f"{ID}\nclustered_by: [id]\n{MAPPED}",
    ),
    Edit(
        "… cannot be dropped: the table is clustered by it, and the contract does not manage the clustering",
        f"{ID}, {{name: a, type: int}}\n{MAPPED}",
        f"{ID}\ndropped: [a]\n{MAPPED}",
        f"{ID}, {{name: a, type: int}}\nclustered_by: [a]\n{MAPPED}",
    ),
    Edit(
        "no column can be dropped beside … = …: Delta then writes the list again, and could not read it",
        f"{ID}, {{name: a-b, type: int}}, {{name: c, type: int}}\n{MAPPED}",
        f"{ID}, {{name: a-b, type: int}}\ndropped: [c]\n{MAPPED}",
        f"{ID}, {{name: a-b, type: int}}, {{name: c, type: int}}\n{MAPPED[:-1]}, "
        "delta.dataSkippingStatsColumns: '`a-b`'}",
    ),
    Edit(
        "… is used by the constraint …, which the contract does not manage",
        f"{ID}, {{name: a, type: int}}\n{MAPPED}",
        f"{ID}, {{name: b, type: int, renamed_from: a}}\n{MAPPED}",
        f"{ID}, {{name: a, type: int}}\nconstraints: {{c: a > 0}}\n{MAPPED}",
    ),
    Edit(
        "… is used by the constraint …, which the contract does not manage",
        f"{ID}, {{name: a, type: int}}\n{WIDENS}",
        f"{ID}, {{name: a, type: bigint}}\n{WIDENS}",
        f"{ID}, {{name: a, type: int}}\n{WIDENS}\nconstraints: {{c: a ~~~ (}}",
    ),
)

# Their tests compare the contracts of several tables, or a table that does not exist.
TESTED_ELSEWHERE: Final = frozenset(
    {
        "the table at this location belongs to …",
        "… is declared at the same location",
        "there is no table at …, and target … creates no tables",
    }
)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.text)
def test_check_has_an_error_for_every_refusal_that_it_can_know(edit: Edit) -> None:
    base, head = declared(edit.base) if edit.base else None, declared(edit.head)
    created = declared(edit.live) if edit.live else base
    live = created_table(created) if created else None
    matching = [written for written in WRITTEN if (written.kind, written.text) == (edit.kind, edit.text)]
    given = refusals(base, head, live, with_rules=False)
    assert any(
        written.matches(refusal.reason) and refusal.kind.name == edit.kind
        for refusal in given
        for written in matching
    ), given
    assert errors(base, head, live)
    assert bool(errors(base, head)) == (edit.live is None)


def test_every_refusal_that_check_can_know_has_an_edit() -> None:
    """A new refusal needs an edit above, or a row in the page of refusals that only `plan` can know."""
    later = (RefusalKind.OPERATION, RefusalKind.APPROVAL, RefusalKind.STREAMS, RefusalKind.ORDER)
    other = {kind.name for kind in later}
    known = {(written.kind, written.text) for written in WRITTEN if written.kind not in other}
    tested = {(kind, text) for kind, text in known if text in TESTED_ELSEWHERE}
    assert known == {(edit.kind, edit.text) for edit in EDITS} | tested


def test_every_refusal_that_only_plan_can_know_says_what_to_do() -> None:
    operations = [written for written in WRITTEN if written.kind == RefusalKind.OPERATION.name]
    assert operations
    assert [written.text for written in operations if not written.has_help] == []


@pytest.mark.wide
def test_plan_refuses_every_case_of_a_rule_that_is_an_error_of_check() -> None:
    compared = 0
    for case in load_cases():
        found = contracts.read("after.yaml", case.texts.get("after", ""))
        if {"before", "after"} - case.texts.keys() or {"log", "live"} & case.texts.keys():
            continue
        if found.errors or len(found.contracts) != 1:
            continue
        (before,), (after,) = contracts.read("before.yaml", case.texts["before"]).contracts, found.contracts
        if after.managed_by != "schemalint" or after.targets or before.targets:
            continue
        if wrong := errors(before, after):
            live = created_table(before)
            # A live table may show that an edit is none: then `check --live` has no error either.
            assert refusals(before, after, live) or not errors(before, after, live), (case.id, wrong)
            compared += 1
    assert compared > 100


def declared(text: str) -> Contract:
    columns, _, rest = text.partition("\n")
    read = contracts.read(
        "orders.yaml", f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{rest}\n"
    )
    assert not read.errors, read.errors
    (contract,) = read.contracts
    return contract
