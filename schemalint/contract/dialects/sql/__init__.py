"""CREATE TABLE statements of Spark and Databricks as contracts, read from ``.sql`` files.

The grammar is Spark's (SqlBaseParser.g4 and SqlBaseLexer.g4 of Spark 4.2), read from tokens. sqlglot reads
SQL for another aim: its tree has no places of clauses, it takes what Spark refuses (a clause or a property
twice, a trailing comma), and fails at what Spark takes (adjacent literals, properties without ``=``). A test
compares the two where both read a statement.

Nothing in a file is run or opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from schemalint.base.document import decode
from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.base.wording import Wording
from schemalint.contract.dialects import Reading
from schemalint.contract.dialects.sql.file_reader import FileReader
from schemalint.contract.dialects.sql.lexer import SqlText
from schemalint.contract.dialects.sql.table import Anchors, Table
from schemalint.model.contract import Contract, FileFormat, ManagedHow, TargetOverlay, Variables

EXPRESSES: Final = frozenset(
    {"comment", "default", "generated", "identity"}
    | {"description", "partitioned_by", "clustered_by", "constraints", "properties"}
)
IS_EDITED: Final = False
WORDING: Final = Wording(
    set_property="set `'{key}' = '{value}'` in TBLPROPERTIES",
    request_feature="set `'delta.feature.{name}' = 'supported'` in TBLPROPERTIES",
    request_too="request {missing} too",
    list_features="in TBLPROPERTIES: `'delta.feature.NAME' = 'supported'`",
    drop_feature="`drop_features: [{name}]` in a contract with `extends: sql`",
    allow_upgrade="`protocol: {allow_upgrade: true}` in a contract with `extends: sql`",
    drop_column="list it in a contract with `extends: sql`: `dropped: [{path}]`",
    neither="and nothing says that it is renamed or dropped",
    renamed_from="say so in a contract with `extends: sql`: `renamed_from: {{{new}: {old}}}`",
    declare_rename="declare the rename in a contract with `extends: sql`: `renamed_from: {{{new}: {old}}}`",
    keep_deprecated="keep it",
    clustered_by="CLUSTER BY",
    partitioned_by="PARTITIONED BY",
    declare_constraint="`ALTER TABLE … ADD CONSTRAINT {name} CHECK ({condition})` behind the statement",
    remove_constraint="run `ALTER TABLE … DROP CONSTRAINT {name}`",
    remove_property="run `ALTER TABLE … UNSET TBLPROPERTIES ('{key}')`",
    fill="fill {column} in a contract with `extends: sql` (`backfill`)",
    drop_old="list {column} under `dropped` in a contract with `extends: sql`",
    rewrite="",
    drop_undeclared="list it under `dropped` in a contract with `extends: sql`",
    open_columns="allow it in a contract with `extends: sql`: `open: {columns: true}`",
    open_widening="allow it in a contract with `extends: sql`: `open: {widening: true}`",
    by_target="",
    default_value="leave it out for Delta's default",
    table_comment="COMMENT",
    location="LOCATION",
    owner="the `owner` in a contract with `extends: sql`",
    managed='`managed_by = "schemalint"` in the entry of the file',
    file="statement",
    is_yaml=False,
)
"""What SQL cannot say stands in a contract of schemalint's own that extends the file."""


def candidate(_path: str, _data: bytes) -> bool:
    """Return whether a file may declare tables: a statement that nobody can read may declare one too."""
    return True


def table_names(data: bytes, settings: FileFormat) -> Iterator[str]:
    """Yield the names of the tables that a file declares; what cannot be read has none."""
    for contract in read("", data, None, settings).contracts:
        yield contract.table


def read(path: str, data: bytes | str, _older: Reading | None, settings: FileFormat) -> Reading:
    """Read all tables that a file declares; what else is in it is counted."""
    try:
        source = SqlText(path, data if isinstance(data, str) else decode(data, path))
    except ContractError as error:
        return Reading(errors=(error,))
    reading = _read(source, settings)
    if settings.shared and _has_variable(source, settings.shared):
        shared = _read(source, replace(settings, variables=settings.shared))
        reading = replace(reading, contracts=tuple(_known_as(reading.contracts, shared.contracts)))
    for target, variables in settings.targets:
        if _has_variable(source, variables):
            reading = _with_target(reading, target, _read(source, replace(settings, variables=variables)))
    return reading


def _with_target(reading: Reading, target: str, in_target: Reading) -> Reading:
    """Return what was read of a file, with what its tables are in one target.

    The tables keep their names: a check is about them, wherever they are.
    """
    others = {contract.document_index: contract for contract in in_target.contracts}
    contracts = []
    for contract in reading.contracts:
        if other := others.get(contract.document_index):
            contracts.append(_with_overlay(contract, target, other))
        else:
            contracts.append(contract)
    known = {(error.message, error.location) for error in reading.errors}
    errors = [error for error in in_target.errors if (error.message, error.location) not in known]
    for contract in reading.contracts:
        if contract.document_index in others:
            errors += _differing(contract, target, others[contract.document_index])
    return replace(reading, contracts=tuple(contracts), errors=(*reading.errors, *errors))


def _with_overlay(contract: Contract, target: str, other: Contract) -> Contract:
    properties = {
        key: value
        for key, value in other.state.properties.items()
        if contract.state.properties.get(key) != value
    }
    location = other.location if other.location != contract.location else None
    if not properties and location is None:
        return contract
    overlay = TargetOverlay(location=location, properties=properties)
    return replace(contract, targets={**contract.targets, target: overlay})


def _differing(contract: Contract, target: str, other: Contract) -> Iterator[ContractError]:
    """Yield an error for each constraint that a variable changes: a table has the same ones everywhere."""
    for name, expression in contract.state.constraints.items():
        if other.state.constraints.get(name, expression) != expression:
            yield ContractError(
                f"the constraint {name} is another one in target {target}",
                help="write it without variables",
                location=contract.locate(("constraint", name)),
            )


def _has_variable(source: SqlText, variables: Variables) -> bool:
    """Whether a text may have one of the variables."""
    return any(name in source.text for name, _value in variables)


def _known_as(contracts: Sequence[Contract], shared: Sequence[Contract]) -> Iterator[Contract]:
    """Yield the contracts with the keys that they have without the variables of a target."""
    keys = {contract.document_index: contract.key for contract in shared}
    for contract in contracts:
        yield replace(contract, known_as=keys.get(contract.document_index, ""))


def _read(source: SqlText, settings: FileFormat) -> Reading:
    reader = FileReader(source, settings)
    reader.read()
    contracts: list[Contract] = []
    errors = [*reader.errors]
    left_out = Counter(reader.skipped)
    for index, table in enumerate(reader.tables.values()):
        left_out.update(table.unmanaged)
        try:
            contracts.append(_contract(source, table, settings, index))
        except ContractError as error:
            errors.append(error)
    return Reading(tuple(contracts), tuple(errors), left_out)


def _contract(source: SqlText, table: Table, settings: FileFormat, index: int) -> Contract:
    """Return a table as a contract.

    Raises:
        ContractError: The statement and the entry disagree on what brings the table to its declaration.
    """
    managed_by, how = _managed(source, table, settings)
    return Contract(
        table=str(table.name),
        state=table.state,
        location=table.location,
        managed_by=managed_by,
        managed_how=how,
        in_catalog=tuple(sorted(set(table.unmanaged))),
        file=source.file,
        document_index=index,
        anchors=Anchors(source, table.spans),
    )


_OWN_WORDS: Final[dict[str, tuple[str, ManagedHow]]] = {
    "create": ("schemalint", "alter"),
    "or replace": ("job", "replace"),
    "if not exists": ("job", "create"),
}
"""What brings a table to its declaration where only the statement says so: a job that runs it."""


def _managed(source: SqlText, table: Table, settings: FileFormat) -> tuple[str, ManagedHow]:
    if settings.managed_by is None:
        return _OWN_WORDS[table.words]
    how = settings.how or "alter"
    if table.words == "or replace" and how != "replace":
        does = "alters the table" if how == "alter" else "leaves a table as it is"
        raise source.error(
            table.begin,
            f"the statement replaces {table.name}, and its entry says that {settings.managed_by} {does}",
            'write CREATE TABLE, or how = "replace" in the entry',
        )
    if table.words == "if not exists" and how == "replace":
        raise source.error(
            table.begin,
            f"the statement leaves {table.name} as it is, and its entry says that {settings.managed_by} "
            "replaces it",
            'write CREATE OR REPLACE TABLE, or how = "create" in the entry',
        )
    return settings.managed_by, how
