"""The formats of other tools that declare tables: one module or package per format, found by walking.

schemalint's own format, `schemalint.contract.dialects.native`, is a package beside them. It is the only one
that is edited, and the only one without a `Dialect`: its files are chosen by globs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from schemalint.base.modules import module_names, module_of
from schemalint.base.values import field, frozen, replace
from schemalint.delta.datatype import UNMANAGED, map_fields
from schemalint.model.contract import NATIVE

if TYPE_CHECKING:
    from schemalint.base.errors import ContractError
    from schemalint.delta.table import TableState
    from schemalint.model.contract import Contract
    from schemalint.project.config.declaration_files import Declarations

OF_FIELDS: Final = ("comment", "default", "generated", "identity", "type_changes")
"""The parts of a column that a dialect may not be able to say, as `Field` names them."""

OF_TABLES: Final = ("description", "partitioned_by", "clustered_by", "constraints", "properties", "features")
"""The parts of a table that a dialect may not be able to say, as `TableState` names them."""


@frozen
class Source:
    """What a dialect reads of one side.

    Attributes:
        file: The path of the file that the configuration or the command line names.
        data: Its content.
        settings: How the configuration wants it read.
        read: Returns another file of the same side by its path from the repository's top; None if it is
            missing or cannot be read.
    """

    file: str
    data: bytes
    settings: Declarations
    read: Callable[[str], bytes | None] = lambda _path: None


@frozen
class Origin:
    """What made a file, as the file itself says.

    Attributes:
        project: The project that it is of.
        made_at: When it was made: ISO 8601.
        commit: The full id of the commit that it was made from; None if the file does not say.
        variant: What else decides how it is read, in a few words: ``for the adapter spark``.
    """

    project: str
    made_at: str
    commit: str | None = None
    variant: str = ""


@frozen
class Reading:
    """The tables that a file declares.

    Attributes:
        contracts: The contracts, each table once.
        errors: What cannot be read; the other tables are.
        identities: What stays the same of a table whose name differs between base and head, by table key.
        observed: The columns whose types the file does not declare, by table key: another file or a live
            table has them.
        left_out: What the file declares and nobody compares, each a few words: ``2 views``.
        unreadable: The identities of tables with an error; they are not gone.
        reasons: Why something that has an identity is left out: ``model orders is a view``.
        sources: The files that it was made from, by their paths from the repository's top, as far as it says.
        text: Returns the text of a file that positions point into; None if it cannot be read.
        origin: What made the file, if it says so.
    """

    contracts: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)
    observed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unreadable: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    text: Callable[[str], str | None] = lambda _file: None
    origin: Origin | None = None


class Dialect(Protocol):
    """What the module of a format provides."""

    EXPRESSES: frozenset[str]
    """The parts of a contract that the format can say, of `OF_TABLES` and `OF_FIELDS`; any format can say
    names, types and nullability of columns. What it cannot say is unmanaged, never "none"."""

    def read(self, source: Source) -> Reading:
        """Return the tables that a file declares."""


def dialects() -> tuple[str, ...]:
    """Return the names of all formats but schemalint's own, sorted."""
    return tuple(name for name in module_names(sys.modules[__name__]) if name != NATIVE)


def read_declarations(source: Source) -> Reading:
    """Read a file in the format that its settings name, which is one of `dialects`."""
    name = source.settings.format
    dialect = module_of(sys.modules[__name__], name, Dialect)
    reading = dialect.read(source)
    return replace(
        reading,
        contracts=tuple(
            replace(contract, dialect=name, state=_said(contract.state, dialect.EXPRESSES))
            for contract in reading.contracts
        ),
    )


_Parts: TypeAlias = dict[str, Any]


def _said(state: TableState, parts: frozenset[str]) -> TableState:
    """Return a state without the parts that a dialect cannot say."""
    nothing = type(state)()
    silent: _Parts = {part: getattr(nothing, part) for part in OF_TABLES if part not in parts}
    unmanaged: _Parts = {part: UNMANAGED for part in OF_FIELDS if part not in parts}
    columns = map_fields(state.columns, lambda _path, column: replace(column, **unmanaged))
    return replace(state, columns=columns, **silent)
