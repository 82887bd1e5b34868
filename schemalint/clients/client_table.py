"""The client table: what each client does with each form of a table, as rows with evidence.

A file of this folder has the rows of one client. Only the files of the clients that are asked for are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any, Final

from schemalint.base.values import frozen, replace
from schemalint.delta.type_text import TypeTextError, parse_type, print_type
from schemalint.model.client import EVERY, Evidence, TableForm, Verdict, Version, VersionRange, parse_versions

ANY: Final = "any"
"""As a type change or a finding of a row: all that no other row names."""

_SUFFIX: Final = ".yaml"


@frozen
class Row:
    """One verdict of the client table: see `schemalint.project.config.consumer_keys.RowKeys`.

    Attributes:
        features: The features that it speaks of, one at a time; empty if it does not depend on one.
        type_changes: The type changes that it speaks of, one at a time, or `ANY`.
        types: The types that it speaks of, one at a time, as in `TableForm.types`.
        findings: The findings about tables that it speaks of, as in `TableForm.unreadable`, or `ANY`.
    """

    verdict: Verdict
    evidence: Evidence
    features: frozenset[str] = frozenset()
    type_changes: frozenset[tuple[str, str] | str] = frozenset()
    types: frozenset[str] = frozenset()
    mapping: str | None = None
    reader: int | None = None
    writer: int | None = None
    format: str | None = None
    repeated_names: bool = False
    findings: frozenset[str] = frozenset()
    versions: VersionRange = EVERY
    read_path: str | None = None
    access: str = "read"
    detail: str = ""

    def fits(self, form: TableForm) -> bool:
        """Whether a table has the form that the row speaks of, apart from its feature or type change."""
        return (
            self.mapping in (None, form.mapping)
            and self.reader in (None, form.reader)
            and self.writer in (None, form.writer)
        )


@frozen
class Client:
    """A client with its rows.

    Attributes:
        name: The name in ``client:``.
        title: The name in full.
        newest: The newest version that the rows speak of, as text; None if the client has no versions.
        newer_than: The first version that is newer than all that the rows speak of; None if the client has
            no versions.
        read_paths: The ways in which it reads tables, if they differ.
        reads: The format that it reads in place of Delta's log, such as ``iceberg``.
        rows: The rows; the first that applies decides.
    """

    name: str
    title: str = ""
    newest: str | None = None
    newer_than: Version | None = None
    read_paths: tuple[str, ...] = ()
    reads: str | None = None
    rows: tuple[Row, ...] = ()


@cache
def client_names() -> tuple[str, ...]:
    """Return the names of the clients that have a file, sorted."""
    files = (file.name for file in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


def find_client(name: str, user_rows: Iterable[Mapping[str, Any]] = ()) -> Client | None:
    """Return a client, with the user's rows of it first; None if there is neither a file nor such a row."""
    own = tuple(_readable(row for row in user_rows if row["client"] == name))
    if name in client_names():
        shipped = _shipped(name)
    elif own:
        shipped = Client(name)
    else:
        return None
    paths = dict.fromkeys((*shipped.read_paths, *(row.read_path for row in own if row.read_path)))
    return replace(shipped, read_paths=tuple(paths), rows=(*own, *shipped.rows))


def _readable(rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Yield rows of the user; one that is faulty is an error of the configuration already."""
    for row in rows:
        with suppress(ValueError):
            yield read_row(row)


def read_row(keys: Mapping[str, Any], as_of: str = "") -> Row:
    """Return a row as a value.

    Args:
        keys: The row, with the keys of `schemalint.project.config.consumer_keys.RowKeys`.
        as_of: The date of a row that has none.

    Raises:
        ValueError: A version or a type is not one, or the row lacks a key or has two that exclude each other.
    """
    if not {"feature", "type_change", "type", "reader", "writer", "format", "names", "finding"} & keys.keys():
        raise ValueError("a row needs feature, type_change, type, reader, writer, format, names or finding")
    if len(keys["evidence"]) != 1:
        raise ValueError("evidence needs exactly one of run, read, documented and inferred")
    ((how, source),) = keys["evidence"].items()
    return Row(
        Verdict(keys["verdict"]),
        Evidence(how, str(source), keys.get("as_of", as_of)),
        features=frozenset(_list(keys.get("feature", []))),
        type_changes=frozenset(map(_type_change, _list(keys.get("type_change", [])))),
        types=frozenset(_list(keys.get("type", []))),
        mapping=keys.get("mapping"),
        reader=keys.get("reader"),
        writer=keys.get("writer"),
        format=keys.get("format"),
        repeated_names="names" in keys,
        findings=frozenset(_list(keys.get("finding", []))),
        versions=parse_versions(keys["versions"]) if "versions" in keys else EVERY,
        read_path=keys.get("read_path"),
        access=keys.get("access", "read"),
        detail=keys.get("detail", ""),
    )


def name_in_rows(type_: str) -> str:
    """Return a printed type as rows give it: ``int``, ``decimal``."""
    return "decimal" if type_.startswith("decimal(") else type_


def rows_of(name: str, user_rows: Iterable[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the rows of a client as they are written, each with its date; the user's come first."""
    own = [
        {key: value for key, value in row.items() if key != "client"}
        for row in user_rows
        if row["client"] == name
    ]
    if name not in client_names():
        return own
    data = file_data(name)
    return [*own, *({"as_of": data["as_of"], **row} for row in data["rows"])]


def file_data(name: str) -> Any:  # noqa: ANN401 (YAML; the tests check it)
    """Return the content of a client's file as plain data."""
    from schemalint.clients.client_file import plain_data  # noqa: PLC0415 (reads YAML: only with a client)

    return plain_data(resources.files(__package__) / f"{name}{_SUFFIX}")


@cache
def _shipped(name: str) -> Client:
    data = file_data(name)
    return Client(
        name,
        data["title"],
        data.get("newest"),
        parse_versions(data["newest"]).high if "newest" in data else None,
        tuple(data.get("read_paths", ())),
        data.get("reads"),
        tuple(read_row(row, data["as_of"]) for row in data["rows"]),
    )


def _list(value: str | list[str]) -> list[str]:
    if isinstance(value, str):
        return [value]
    return value


def _type_change(text: str) -> tuple[str, str] | str:
    if text == ANY:
        return ANY
    old, arrow, new = text.partition("->")
    try:
        if arrow:
            first, last = (name_in_rows(print_type(parse_type(each.strip()))) for each in (old, new))
            return first, last
    except TypeTextError as error:
        raise ValueError(f"{text!r} is no type change: {error}") from error
    raise ValueError(f"{text!r} is no type change such as int -> bigint")
