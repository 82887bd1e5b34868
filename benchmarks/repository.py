"""git repositories for measurements: tables as contracts, and the same tables in the forms that peers read.

A change widens a column of the first tables in the working tree; all else is committed and packed.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

_AUTHOR: Final = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
_DOMAINS: Final = 20
WIDENED: Final = "column_2"


class Table(NamedTuple):
    """A table of a repository.

    Attributes:
        number: Its number, from 0.
        columns: The number of its columns.
        widened: Whether the type of its third column is wider than in the commit.
    """

    number: int
    columns: int
    widened: bool

    @property
    def domain(self) -> str:
        """The schema of the table."""
        return f"domain_{self.number % _DOMAINS}"

    def types(self, kinds: tuple[str, str, str, str, str], wider: str) -> list[str]:
        """Return the type of each column, of five kinds in turn."""
        types = [kinds[index % len(kinds)] for index in range(self.columns)]
        return [*types[:2], wider, *types[3:]] if self.widened else types


def contract(table: Table) -> str:
    """The contract of a table."""
    kinds = ("bigint", "string", '"decimal(10,2)"', "timestamp", '"array<struct<sku: string, qty: int>>"')
    columns = "".join(
        f"  - {{name: column_{index}, type: {type_}, comment: Number {index}.}}\n"
        for index, type_ in enumerate(table.types(kinds, '"decimal(12,2)"'))
    )
    return f"schemalint: 1\ntable: {table.domain}.table_{table.number}\ncolumns:\n{columns}"


def quoted(table: Table) -> str:
    """The contract with its table's name in quotes."""
    return re.sub("(?m)^table: (.*)", r'table: "\1"', contract(table))


def blocks(table: Table) -> str:
    """The contract with each key of a column on a line of its own."""
    return re.sub(
        "{name: (.*), type: (.*), comment: (.*)}", r"name: \1\n    type: \2\n    comment: \3", contract(table)
    )


def as_json(table: Table) -> str:
    """The contract as JSON, on one line for each column."""
    head = f'{{\n"schemalint": 1,\n"table": "{table.domain}.table_{table.number}",\n"columns": [\n'
    columns = re.findall('{name: (.*), type: "?(.*?)"?, comment: (.*)}', contract(table))
    written = (json.dumps(dict(zip(("name", "type", "comment"), column, strict=True))) for column in columns)
    return head + ",\n".join(written) + "\n]}\n"


def as_sql(table: Table) -> str:
    """The table as a CREATE TABLE."""
    kinds = ("bigint", "string", "decimal(10,2)", "timestamp", "array<struct<sku: string, qty: int>>")
    columns = ",\n".join(
        f"  column_{index} {type_} COMMENT 'Number {index}.'"
        for index, type_ in enumerate(table.types(kinds, "decimal(12,2)"))
    )
    return f"CREATE TABLE {table.domain}.table_{table.number} (\n{columns}\n) USING delta;\n"


STYLES: Final[dict[str, Callable[[Table], str]]] = {
    "flow": contract,
    "quoted": quoted,
    "blocks": blocks,
    "JSON": as_json,
    "SQL": as_sql,
}


def message(table: Table) -> str:
    """The protobuf file of a table: a message with a field for each column."""
    kinds = ("int64", "string", "int32", "google.protobuf.Timestamp", "repeated Item")
    fields = "".join(
        f"  // Number {index}.\n  {type_} column_{index} = {index + 1};\n"
        for index, type_ in enumerate(table.types(kinds, "int64"))
    )
    return (
        f'syntax = "proto3";\n\npackage {table.domain}.table_{table.number};\n\n'
        'import "google/protobuf/timestamp.proto";\n\n'
        "message Item {\n  string sku = 1;\n  int32 qty = 2;\n}\n\n"
        f"message Table {{\n{fields}}}\n"
    )


def data_contract(table: Table) -> str:
    """The table in the Open Data Contract Standard, which datacontract reads."""
    kinds = ("bigint", "string", "decimal(10,2)", "timestamp", "array<struct<sku: string, qty: int>>")
    logical = ("integer", "string", "number", "timestamp", "array")
    items = (
        "    items:\n      logicalType: object\n      properties:\n"
        "      - {name: sku, logicalType: string, physicalType: string}\n"
        "      - {name: qty, logicalType: integer, physicalType: int}\n"
    )
    properties = "".join(
        f"  - name: column_{index}\n    logicalType: {logical_type}\n    physicalType: '{type_}'\n"
        f"    description: Number {index}.\n{items if logical_type == 'array' else ''}"
        for index, (type_, logical_type) in enumerate(
            zip(table.types(kinds, "decimal(12,2)"), itertools.cycle(logical), strict=False)
        )
    )
    name = f"table_{table.number}"
    return (
        f"apiVersion: v3.1.0\nkind: DataContract\nid: {name}\nname: {name}\nversion: 1.0.0\nstatus: active\n"
        f"schema:\n- name: {name}\n  physicalType: table\n  properties:\n{properties}"
    )


def write_contracts(folder: Path, tables: int, columns: int, changed: int, style: str = "flow") -> None:
    """Write the contracts; files that are as they should be are left alone."""
    suffix = "yml"
    if style == "SQL":
        suffix = "sql"
        _write(folder / "schemalint.toml", 'contracts = [{path = "contracts/**/*.sql", format = "sql"}]\n')
    for number in range(tables):
        table = Table(number, columns, widened=number < changed)
        _write(folder / f"contracts/{table.domain}/table_{number}.{suffix}", STYLES[style](table))


def write_messages(folder: Path, tables: int, columns: int, changed: int) -> None:
    """Write the protobuf files; files that are as they should be are left alone."""
    _write(folder / "buf.yaml", "version: v2\n")
    for number in range(tables):
        table = Table(number, columns, widened=number < changed)
        _write(folder / f"{table.domain}/table_{number}/table.proto", message(table))


def write_data_contracts(folder: Path, columns: int) -> None:
    """Write the first table as it is committed (before.yaml), and widened (after.yaml)."""
    _write(folder / "before.yaml", data_contract(Table(0, columns, widened=False)))
    _write(folder / "after.yaml", data_contract(Table(0, columns, widened=True)))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit_all(folder: Path) -> None:
    """Commit all files of a folder, which becomes a repository if it is none."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, *_AUTHOR, "commit", "--quiet", "-m", "contracts")
    git(folder, "gc", "--quiet")


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's settings."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-c", "gc.auto=0", *arguments], cwd=folder, env=env, check=True)
