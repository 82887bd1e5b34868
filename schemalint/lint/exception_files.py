"""The exceptions outside of the contracts: ``exceptions.yaml``, and ``removed`` of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from schemalint import contract as contracts
from schemalint import git
from schemalint.config import Config, parse
from schemalint.config.positions import Positions
from schemalint.errors import ConfigError, ContractError, Location, SchemalintError
from schemalint.git import EmptyTree, Repository, Revision, Side
from schemalint.lint.configuration import HeadConfig
from schemalint.model.waiver import IN_CONFIGURATION, WaiverSource, WrittenWaiver
from schemalint.printable import visible
from schemalint.values import field, frozen, replace

if TYPE_CHECKING:
    from schemalint.config.trust import Trusted
    from schemalint.contract.fixes import FixedFile

FILE: Final = "exceptions.yaml"


@frozen
class OtherExceptions:
    """The exceptions outside of the contracts.

    Attributes:
        waivers: The exceptions of the head; those that the base lacks are ``added``.
        errors: Why the file of the head cannot be read.
        texts: The file's text by its name.
    """

    waivers: tuple[WrittenWaiver, ...] = ()
    errors: tuple[SchemalintError, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def exceptions_name(config: Config) -> str:
    """Return the path of ``exceptions.yaml`` in the repository: beside the configuration."""
    folder = PurePosixPath(config.file or "").parent
    return FILE if folder.is_absolute() else (folder / FILE).as_posix()


def other_exceptions(head: HeadConfig, base: Side, base_config: Config) -> OtherExceptions:
    """Read the exceptions outside of the contracts, of both sides."""
    name = exceptions_name(head.config)
    text = head.text if head.config.removed else ""
    of_configuration = tuple(_removed(head, text, base_config))
    # A file that `--config` names is not edited: it need not be the repository's.
    texts = {visible(head.name or ""): text} if of_configuration and head.given is None else {}
    try:
        data = head.read(name)
        if data is None:
            return OtherExceptions(of_configuration, texts=texts)
        written = contracts.read_exceptions(visible(name), data)
    except (ConfigError, ContractError) as error:
        return OtherExceptions(of_configuration, (error,), texts)
    known: set[object] = set()
    if base == head.side:
        known = set(map(_identity, written))
    elif not isinstance(base, EmptyTree):
        with suppress(ContractError):  # what cannot be read approves nothing
            at_base = git.file_at(head.repository, base, name)
            known = {_identity(entry) for entry in contracts.read_exceptions(name, at_base or b"")}
    return OtherExceptions(
        (*of_configuration, *(replace(entry, added=_identity(entry) not in known) for entry in written)),
        texts={**texts, visible(name): data.decode("utf-8", "replace")},
    )


@frozen
class MergedExceptions:
    """The exceptions of a command that deploys or reads what is live, instead of comparing two sides.

    Attributes:
        waivers: Those outside of the contracts.
        reviewed: The commit whose exceptions count by themselves; None if those of the head do.
        void: See `void_reasons`.
    """

    waivers: tuple[WrittenWaiver, ...]
    reviewed: Revision | None
    void: Callable[[WaiverSource], str | None]


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
    found = other_exceptions(HeadConfig(repository, head, config), reviewed or head, config)
    for error in found.errors:
        raise error
    return MergedExceptions(found.waivers, reviewed, void_reasons(config.accepted, git.foreign_head(env)))


def exceptions_after(others: OtherExceptions, file: FixedFile) -> OtherExceptions:
    """Return the exceptions after fixes of their file: none of them is another one."""
    of_configuration = [entry for entry in others.waivers if entry.index == IN_CONFIGURATION]
    in_file = [entry for entry in others.waivers if entry.index != IN_CONFIGURATION]
    if file.file.endswith(".toml"):
        left = parse(file.file, file.after.encode()).removed
        lines = Positions(file.file, file.after)
        of_configuration = [
            replace(entry, location=_line(lines, entry.table))
            for entry in of_configuration
            if entry.table in left
        ]
    else:
        known = {_identity(entry): entry for entry in in_file}
        written = contracts.read_exceptions(file.file, file.after.encode())
        in_file = [replace(entry, added=known[_identity(entry)].added) for entry in written]
    return OtherExceptions((*of_configuration, *in_file), texts={**others.texts, file.file: file.after})


def void_reasons(accepted: Collection[str], foreign: str | None) -> Callable[[WaiverSource], str | None]:
    """Return why exceptions that the change adds do not count, by their kind.

    Args:
        accepted: What ``exceptions.accept`` of the base lists.
        foreign: Why the change may be a stranger's: see `schemalint.git.foreign_head`.
    """

    def void(source: WaiverSource) -> str | None:
        if source.value not in accepted:
            return f"this change adds it, and exceptions.accept of the base leaves out {source.value}"
        return None if foreign is None else f"this change adds it, and {foreign}"

    return void


def _identity(entry: WrittenWaiver) -> object:
    return entry.table.casefold(), entry.waiver


def _removed(head: HeadConfig, text: str, base: Config) -> Iterator[WrittenWaiver]:
    lines = Positions(visible(head.name or ""), text)
    for table, waiver in head.config.removed.items():
        location = _line(lines, table)
        added = base.removed.get(table) != waiver
        yield WrittenWaiver(waiver, table, WaiverSource.FILE, location, added, index=IN_CONFIGURATION)


def _line(lines: Positions, table: str) -> Location:
    return lines.locate(("removed", "table"), table)
