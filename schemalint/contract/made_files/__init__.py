"""Files that another tool makes of its project, such as dbt's manifest: one package per format.

Such a file declares many tables. They are paired with those of the base by what the format calls a table, the
file may be older than the project that it was made from, and nobody edits it. Files in which people declare
tables are of a dialect: see `schemalint.contract.dialects`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Protocol

from schemalint.base.errors import ContractError
from schemalint.base.modules import module_names, module_of
from schemalint.base.values import field, frozen, replace
from schemalint.base.wording import Wording
from schemalint.contract.dialects import said
from schemalint.model.contract import Contract
from schemalint.project.config.contracts_entry import ContractsEntry


@frozen
class Source:
    """What a format reads of one side.

    Attributes:
        file: The path of the file that the configuration or the command line names.
        data: Its content.
        settings: How the configuration wants it read.
        read: Returns another file of the same side by its path from the repository's top; None if it is
            missing or cannot be read.
    """

    file: str
    data: bytes
    settings: ContractsEntry
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
class MadeReading:
    """The tables that a file declares.

    Attributes:
        contracts: The contracts, each table once.
        uncontracted: The tables without a contract: see `Contract.is_contracted`.
        errors: What cannot be read; the other tables are.
        identities: What stays the same of a table whose name differs between base and head, by table key.
        observed: The columns whose types the file does not declare, by table key: another file or a live
            table has them.
        left_out: What the file declares and nobody compares, each a few words: ``2 views``.
        without_contract: The same of what is compared with live tables alone.
        unreadable: The identities of tables with an error; they are not gone.
        reasons: Why something that has an identity is left out: ``model orders is a view``.
        sources: The files that it was made from, by their paths from the repository's top, as far as it says.
        text: Returns the text of a file that positions point into; None if it cannot be read.
        origin: What made the file, if it says so.
    """

    contracts: tuple[Contract, ...] = ()
    uncontracted: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)
    observed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    without_contract: tuple[str, ...] = ()
    unreadable: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    text: Callable[[str], str | None] = lambda _file: None
    origin: Origin | None = None


class MadeFile(Protocol):
    """What the package of a format provides."""

    EXPRESSES: frozenset[str]
    """As `Dialect.EXPRESSES`."""

    WORDING: Wording
    """As `Dialect.WORDING`; a contract that has words of its own keeps them."""

    def read(self, source: Source) -> MadeReading:
        """Return the tables that a file declares."""


def formats() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return module_names(sys.modules[__name__])


def read_made(source: Source) -> MadeReading:
    """Read a file in the format that its settings name, which is one of `formats`."""
    name = source.settings.format
    made = module_of(sys.modules[__name__], name, MadeFile)
    reading = made.read(source)

    def as_made(contract: Contract) -> Contract:
        return replace(
            said(contract, made.EXPRESSES),
            dialect=name,
            wording=made.WORDING if contract.wording == Wording() else contract.wording,
            is_edited=False,
            is_made=True,
        )

    return replace(
        reading,
        contracts=tuple(map(as_made, reading.contracts)),
        uncontracted=tuple(map(as_made, reading.uncontracted)),
    )
