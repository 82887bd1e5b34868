"""CREATE TABLE statements of Spark and Databricks as contracts, read from ``.sql`` files.

The grammar is Spark's (SqlBaseParser.g4 and SqlBaseLexer.g4 of Spark 4.2), read from tokens. sqlglot reads
SQL for another aim: its tree has no places of clauses, it takes what Spark refuses (a clause or a property
twice, a trailing comma), and fails at what Spark takes (adjacent literals, properties without ``=``). A test
compares the two where both read a statement.

Nothing in a file is run or opened.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from schemalint.base.document import decode
from schemalint.base.errors import ContractError
from schemalint.base.values import field, frozen
from schemalint.contract.dialects.sql.file_reader import FileReader
from schemalint.contract.dialects.sql.lexer import SqlText
from schemalint.contract.dialects.sql.table import Anchors, Settings, Table
from schemalint.model.contract import Contract, ManagedHow

EXPRESSES: Final = frozenset(
    {"comment", "default", "generated", "identity"}
    | {"description", "partitioned_by", "clustered_by", "constraints", "properties"}
)


@frozen
class SqlReading:
    """What a file declares.

    Attributes:
        contracts: The tables, in their order.
        errors: What cannot be read.
        unreadable: The keys of tables that are not read; they are not gone.
        skipped: The kinds of statements that declare no table, and how many of each there are.
        unmanaged: What Delta's log does not store, by the key of its table: ``primary key``.
    """

    contracts: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()
    unreadable: frozenset[str] = frozenset()
    skipped: Counter[str] = field(default_factory=Counter)
    unmanaged: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read_sql(file: str, data: bytes, settings: Settings) -> SqlReading:
    """Return the tables that a file declares.

    Args:
        file: Its path, for positions.
        data: Its content.
        settings: What its entry of the configuration says.
    """
    try:
        source = SqlText(file, decode(data, file))
    except ContractError as error:
        return SqlReading(errors=(error,))
    reader = FileReader(source, settings)
    reader.read()
    contracts: list[Contract] = []
    errors = [*reader.errors]
    for index, table in enumerate(reader.tables.values()):
        try:
            contracts.append(_contract(source, table, settings, index))
        except ContractError as error:
            errors.append(error)
            reader.unreadable.add(str(table.name))
    return SqlReading(
        tuple(contracts),
        tuple(errors),
        frozenset(reader.unreadable),
        reader.skipped,
        {key: tuple(table.unmanaged) for key, table in reader.tables.items() if table.unmanaged},
    )


def _contract(source: SqlText, table: Table, settings: Settings, index: int) -> Contract:
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
        dialect="sql",
        file=source.file,
        document=index,
        anchors=Anchors(source, table.spans),
    )


_OWN_WORDS: Final[dict[str, tuple[str, ManagedHow]]] = {
    "create": ("schemalint", "alter"),
    "or replace": ("job", "replace"),
    "if not exists": ("job", "create"),
}
"""What brings a table to its declaration where only the statement says so: a job that runs it."""


def _managed(source: SqlText, table: Table, settings: Settings) -> tuple[str, ManagedHow]:
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
