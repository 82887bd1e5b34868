"""Read ``exceptions.yaml``: of both sides of a check, or of what is merged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import PurePosixPath

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError, ContractError, SchemalintError
from schemalint.base.values import replace
from schemalint.model.exception import ExceptionSource
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.trust import Trusted
from schemalint.project.git import EmptyTree, Repository, Side
from schemalint.review.exceptions import FILE, Exceptions, identity
from schemalint.review.sides import Sides, reviewed_commit


def exceptions_name(config: Config) -> str:
    """Return the path of ``exceptions.yaml`` in the repository: beside the configuration."""
    folder = PurePosixPath(config.file or "").parent
    return FILE if folder.is_absolute() else (folder / FILE).as_posix()


def files_without_owner(sides: Sides) -> str | None:
    """Return a warning where reviews have owners, and a file that approves findings has none."""
    from schemalint.project.code_owners import code_owners  # noqa: PLC0415 (only in CI)

    def read(name: str) -> str | None:
        try:
            data = sides.read(name)
        except SchemalintError:  # a link, or too large: whoever needs the file reports it
            return None
        return None if data is None else data.decode(errors="replace")

    config = sides.at_head
    names = (exceptions_name(config), config.baseline, config.file)
    approving = [name for name in names if name and not name.startswith("/")]
    existing = [name for name in approving if read(name) is not None]
    owners = code_owners(read)
    if owners is None or not (unowned := owners.without_owner(existing)):
        return None
    return f"{owners.file} names no owner of {', '.join(unowned)}: whoever may merge approves findings"


def exceptions_of(sides: Sides, accepted: Collection[str], foreign: str | None) -> Exceptions:
    """Read ``exceptions.yaml`` of both sides.

    Args:
        sides: The sides; what the base lacks is added by the change.
        accepted: See `_void_reasons`.
        foreign: See `_void_reasons`.
    """
    name = exceptions_name(sides.at_head)
    exceptions = Exceptions(file=name, void=_void_reasons(accepted, foreign))
    try:
        data = sides.read(name)
    except ConfigError as error:
        return replace(exceptions, errors=(error,))
    if data is None:
        return exceptions
    at_base: bytes | None = None
    if sides.base == sides.head:
        at_base = data
    elif not isinstance(sides.base, EmptyTree):
        at_base = git.file_at(sides.repository, sides.base, name)
    with suppress(ContractError):  # what cannot be read approves nothing
        known = frozenset(map(identity, contracts.read_exceptions(name, at_base or b"")))
        exceptions = replace(exceptions, known=known)
    return exceptions.with_text(data)


def merged_exceptions(
    repository: Repository, head: Side, settings: Trusted, env: Mapping[str, str]
) -> Exceptions:
    """Read the exceptions for a command that deploys or reads what is live, instead of comparing two sides.

    Raises:
        SchemalintError: The file of the exceptions cannot be read.
    """
    config, reviewed = settings.config, reviewed_commit(settings)
    sides = Sides(repository, reviewed or head, head, config, config)
    exceptions = exceptions_of(sides, config.accepted, git.foreign_head(env))
    for error in exceptions.errors:
        raise error
    return replace(exceptions, reviewed=reviewed)


def _void_reasons(accepted: Collection[str], foreign: str | None) -> Callable[[ExceptionSource], str | None]:
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
