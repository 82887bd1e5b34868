"""The exceptions outside of the contracts: those in ``exceptions.yaml``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError, ContractError, SchemalintError
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen, replace
from schemalint.lint.configuration import HeadConfig
from schemalint.model.exception import ExceptionSource, WrittenException
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.git import EmptyTree, Repository, Revision, Side

if TYPE_CHECKING:
    from schemalint.contract.fixes import FixedFile
    from schemalint.project.config.trust import Trusted

FILE: Final = "exceptions.yaml"


@frozen
class OtherExceptions:
    """The exceptions outside of the contracts.

    Attributes:
        exceptions: The exceptions of the head; those that the base lacks are ``added``.
        errors: Why the file of the head cannot be read.
        texts: The file's text by its name.
    """

    exceptions: tuple[WrittenException, ...] = ()
    errors: tuple[SchemalintError, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def exceptions_name(config: Config) -> str:
    """Return the path of ``exceptions.yaml`` in the repository: beside the configuration."""
    folder = PurePosixPath(config.file or "").parent
    return FILE if folder.is_absolute() else (folder / FILE).as_posix()


def other_exceptions(head: HeadConfig, base: Side) -> OtherExceptions:
    """Read the exceptions outside of the contracts, of both sides."""
    name = exceptions_name(head.config)
    try:
        data = head.read(name)
        if data is None:
            return OtherExceptions()
        written = contracts.read_exceptions(visible(name), data)
    except (ConfigError, ContractError) as error:
        return OtherExceptions(errors=(error,))
    known: set[object] = set()
    if base == head.side:
        known = set(map(_identity, written))
    elif not isinstance(base, EmptyTree):
        with suppress(ContractError):  # what cannot be read approves nothing
            at_base = git.file_at(head.repository, base, name)
            known = {_identity(entry) for entry in contracts.read_exceptions(name, at_base or b"")}
    return OtherExceptions(
        tuple(replace(entry, added=_identity(entry) not in known) for entry in written),
        texts={visible(name): data.decode("utf-8", "replace")},
    )


@frozen
class MergedExceptions:
    """The exceptions of a command that deploys or reads what is live, instead of comparing two sides.

    Attributes:
        exceptions: Those outside of the contracts.
        reviewed: The commit whose exceptions count by themselves; None if those of the head do.
        void: See `void_reasons`.
    """

    exceptions: tuple[WrittenException, ...]
    reviewed: Revision | None
    void: Callable[[ExceptionSource], str | None]


def merged_exceptions(
    repository: Repository, head: Side, settings: Trusted, env: Mapping[str, str]
) -> MergedExceptions:
    """Read the exceptions outside of the contracts, and which of the head's count by themselves.

    Args:
        repository: The repository.
        head: The side with the contracts.
        settings: The configuration that counts.
        env: The environment with the CI variables.

    Raises:
        SchemalintError: The file of the exceptions cannot be read.
    """
    trusted, config = settings.commit, settings.config
    reviewed = None if trusted is None or trusted.spec == "HEAD" else trusted
    found = other_exceptions(HeadConfig(repository, head, config), reviewed or head)
    for error in found.errors:
        raise error
    return MergedExceptions(found.exceptions, reviewed, void_reasons(config.accepted, git.foreign_head(env)))


def exceptions_after(others: OtherExceptions, file: FixedFile) -> OtherExceptions:
    """Return the exceptions after fixes of their file: none of them is another one."""
    known = {_identity(entry): entry for entry in others.exceptions}
    written = contracts.read_exceptions(file.file, file.after.encode())
    exceptions = tuple(replace(entry, added=known[_identity(entry)].added) for entry in written)
    return OtherExceptions(exceptions, texts={file.file: file.after})


def void_reasons(accepted: Collection[str], foreign: str | None) -> Callable[[ExceptionSource], str | None]:
    """Return why exceptions that the change adds do not count, by their kind.

    Args:
        accepted: What ``exceptions.accept`` of the base lists.
        foreign: Why the change may be a stranger's: see `schemalint.project.git.foreign_head`.
    """

    def void(source: ExceptionSource) -> str | None:
        if source.value not in accepted:
            return f"this change adds it, and exceptions.accept of the base leaves out {source.value}"
        return None if foreign is None else f"this change adds it, and {foreign}"

    return void


def _identity(entry: WrittenException) -> object:
    return entry.table.casefold(), entry.exception
