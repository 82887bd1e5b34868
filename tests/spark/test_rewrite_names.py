"""Rewrites of tables whose names need quotes: rows by id, and nothing else changes.

Spark's own catalog has no table and no schema with such a name: there it is the location that needs quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.sql_text import quote_literal
from schemalint.deploy.results import Outcome
from schemalint.planner.statements import path_table
from schemalint.tables.storage import read_table
from support.attack_texts import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ALLOW: Final = ("rewrite", "destructive", "upgrade")
PLAIN: Final = ("a.b", "tick`s", "it's", 'qu"ote', "größe漢字", "select", "back\\slash", "--", "/*", "100%")
"""Names that Delta takes without column mapping."""
MAPPED: Final = (*PLAIN, "total amount", "a,b;c", "x = (1)", "line\nbreak", "$HOME {x}", "`", "it.in")
PARTITION: Final = "p.`it's"
VARIABLE: Final = "${spark.app.name}"
"""A name that needs column mapping; no expression may have it, because Spark replaces it where it can."""
STRUCT: Final = "it.`in"
LOCATION: Final = 'it\'s a "place" of `tick`s, ü 漢/50%25 {x}'
IDS: Final = (1, 2, 3)


def in_sql(name: str) -> str:
    """Return a name as an identifier."""
    return f"`{name.replace('`', '``')}`"


def column(name: str, read: str, *, rewritten: bool) -> str:
    """Return the entry of a column or field that is a text, or is rewritten to a number."""
    if not rewritten:
        return f"{{name: {quoted(name)}, type: string, comment: {quoted(name)}}}"
    rewrite = f"rewrite: {{from: string, with: {quoted(f'cast({read} as int)')}}}"
    return f"{{name: {quoted(name)}, type: int, comment: {quoted(name)}, {rewrite}}}"


def contract(names: Sequence[str], more: str, *, rewritten: bool) -> str:
    """Return a contract with columns, and fields of a struct, of these names."""
    entries = [
        "{name: id, type: int}",
        f"{{name: {quoted(PARTITION)}, type: string}}",
        f"{{name: {quoted(VARIABLE if names is MAPPED else 'kept')}, type: string}}",
        *(column(name, in_sql(name), rewritten=rewritten) for name in names),
    ]
    fields = [column(name, f"{in_sql(STRUCT)}.{in_sql(name)}", rewritten=rewritten) for name in names]
    entries.append(f"{{name: {quoted(STRUCT)}, type: struct, columns: [{', '.join(fields)}]}}")
    listed = "".join(f"  - {entry}\n" for entry in entries)
    return f"""\
schemalint: 1
table: sales.orders
location: {quoted(LOCATION)}
columns:
{listed}{more}protocol: {{allow_upgrade: true}}
"""


def values(names: Sequence[str], id_: int, made: Callable[[int], object]) -> list[object]:
    """Return what the named columns, or the fields of the struct, have in a row; one of them is null."""
    return [None if number == id_ else made(10 * id_ + number) for number, _name in enumerate(names)]


def rows(lakehouse: Lakehouse, uri: str) -> dict[int, list[object]]:
    """Return the rows by id, as Spark alone reads them."""
    return {
        row["id"]: [*row[1:3], list(row)[3:-1], None if row[-1] is None else list(row[-1])]
        for row in lakehouse.session.sql(f"SELECT * FROM {path_table(uri)}").collect()
    }


@pytest.mark.parametrize(
    ("names", "more"),
    [(PLAIN, ""), (MAPPED, "properties: {delta.columnMapping.mode: name}\n")],
    ids=["plain", "mapped"],
)
def test_names_that_need_quotes_stay_and_so_do_the_rows(
    lakehouse: Lakehouse, names: Sequence[str], more: str
) -> None:
    partitioned = f"partitioned_by: [{quoted(PARTITION)}]\n{more}"
    lakehouse.declare(contract(names, partitioned, rewritten=False))
    made = lakehouse.apply(allow=ALLOW)
    assert made.outcome is Outcome.APPLIED, made.error
    uri = str(lakehouse.root / LOCATION)
    for id_ in IDS:
        texts = ["NULL" if text is None else f"'{text}'" for text in values(names, id_, str)]
        pairs = ", ".join(f"{quote_literal(name)}, {text}" for name, text in zip(names, texts, strict=True))
        struct = "NULL" if id_ == IDS[-1] else f"named_struct({pairs})"
        lakehouse.session.sql(
            f"INSERT INTO {path_table(uri)} SELECT {id_}, 'it\\'s', 'kept', {', '.join(texts)}, {struct}"
        )
    before = read_table(uri)
    numbers = {
        id_: [
            "it's",
            "kept",
            values(names, id_, int),
            None if id_ == IDS[-1] else values(names, id_, int),
        ]
        for id_ in IDS
    }
    layout = f"rewrite: {{from: {{partitioned_by: [{quoted(PARTITION)}]}}}}\n"
    clustered = f"partitioned_by: []\nclustered_by: [{quoted(in_sql(PARTITION))}]\n{layout}{more}"
    lakehouse.declare(contract(names, clustered, rewritten=True))
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert rows(lakehouse, uri) == numbers
    after = read_table(uri)
    assert after.state.clustering_columns == ((PARTITION,),)
    assert after.metadata.table_id == before.metadata.table_id
    assert lakehouse.apply(allow=ALLOW).outcome is Outcome.NOTHING
