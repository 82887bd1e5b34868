"""The formats in which people declare tables, schemalint's own included: one package per format.

Globs of the configuration say which files are of which format (`schemalint.contract.contract_files`); others
are of schemalint's own, `schemalint.contract.dialects.native`. What another tool makes of its project is no
dialect: see `schemalint.contract.made_files`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from schemalint.base.errors import ContractError
from schemalint.base.modules import module_names, module_of
from schemalint.base.values import field, frozen, replace
from schemalint.base.wording import Wording
from schemalint.delta.datatype import UNMANAGED, map_fields
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract, FileFormat

OF_FIELDS: Final = ("comment", "default", "generated", "identity", "type_changes")
"""The parts of a column that a dialect may not be able to say, as `Field` names them."""

OF_CONTRACTS: Final = ("owner",)
"""The parts beside the state that a dialect may not be able to say, as `Contract` names them."""

OF_TABLES: Final = ("description", "partitioned_by", "clustered_by", "constraints", "properties", "features")
"""The parts of a table that a dialect may not be able to say, as `TableState` names them."""


@frozen
class Reading:
    """The contracts of a file, in order, and its errors.

    Attributes:
        contracts: The contracts.
        errors: What cannot be read.
        left_out: What the file says and nobody compares, with the number of each: ``CREATE VIEW``.
    """

    contracts: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Dialect(Protocol):
    """What the package of a format provides."""

    EXPRESSES: frozenset[str]
    """The parts of a contract that the format can say, of `OF_CONTRACTS`, `OF_TABLES` and `OF_FIELDS`; any
    format can say names, types and nullability of columns. What it cannot say is unmanaged, never "none"."""

    IS_EDITED: bool
    """Whether schemalint edits its files, and whether they hold exceptions."""

    WORDING: Wording
    """How its files say what the help of a finding asks for."""

    def candidate(self, path: str, data: bytes) -> bool:
        """Return whether a file that its globs choose may declare tables; it is called for each file."""

    def table_names(self, data: bytes, settings: FileFormat) -> Iterable[str]:
        """Return the names of the tables that a file may declare, and perhaps others, without reading it."""

    def read(self, path: str, data: bytes | str, older: Reading | None, settings: FileFormat) -> Reading:
        """Return all tables that a file declares; one that cannot be read hides no other.

        Args:
            path: The file's path for locations, relative to the repository's root and with ``/``.
            data: The file's content.
            older: What was read from the file of an older revision; the result is the same without it.
            settings: What the configuration says of the file.
        """


def dialects() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return module_names(sys.modules[__name__])


@cache
def dialect(name: str) -> Dialect:
    """Return the format of a name, which is one of `dialects`."""
    return module_of(sys.modules[__name__], name, Dialect)


_Parts: TypeAlias = dict[str, Any]


def said(contract: Contract, parts: frozenset[str]) -> Contract:
    """Return a contract without the parts of its state that a format cannot say; it knows which these are."""
    unsaid = frozenset((*OF_CONTRACTS, *OF_TABLES, *OF_FIELDS)) - parts
    return replace(contract, state=_said(contract.state, parts), unsaid=unsaid)


def _said(state: TableState, parts: frozenset[str]) -> TableState:
    nothing = type(state)()
    silent: _Parts = {part: getattr(nothing, part) for part in OF_TABLES if part not in parts}
    unmanaged: _Parts = {part: UNMANAGED for part in OF_FIELDS if part not in parts}
    columns = map_fields(state.columns, lambda _path, column: replace(column, **unmanaged))
    return replace(state, columns=columns, **silent)
