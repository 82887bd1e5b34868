"""Find the location of a contract's table in a target, and the keys by which contracts claim one location."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from urllib.parse import unquote

from schemalint.base.errors import ConfigError, LiveError, UsageError
from schemalint.base.values import field, frozen
from schemalint.delta.column_names import nearest_name
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Environment, effective
from schemalint.project.config import Target
from schemalint.project.config.trust import Trusted, TrustedTarget
from schemalint.tables.catalog import full_name
from schemalint.tables.storage import location_key

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = re.compile(r"file:(?://(?:localhost)?)?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)
LocationKey: TypeAlias = tuple[str | None, str]
"""A target's name, None for any target, and a text that only the contracts of one table share."""


def choose_target(settings: Trusted, name: str | None) -> TrustedTarget:
    """Return the target of that name, or the only one that is configured.

    Raises:
        UsageError: There is no such target, or the name is missing and several targets are configured.
    """
    targets = settings.targets
    if name is None and len(targets) == 1:
        return next(iter(targets.values()))
    if name is not None and name in targets:
        return targets[name]
    counts = f"; only {settings.source} counts" if settings.commit is not None else ""
    if not targets:
        raise UsageError(
            f"there is no target {name!r}: none is configured" if name else "no target is configured",
            help=f"say where the tables are, in schemalint.toml: [targets.{name or 'dev'}] and below it "
            f'root = "s3://bucket/lake" or a folder{counts}',
        )
    configured = f"configured: {', '.join(targets)}{counts}"
    if name is None:
        raise UsageError("no target given", help=f"name one with --target; {configured}")
    close = nearest_name(name, targets)
    raise UsageError(
        f"there is no target {name!r}", help=f"did you mean {close!r}? {configured}" if close else configured
    )


def table_location(contract: Contract, target: Target, repository: Path) -> str:
    """Return the absolute location of a table: the contract's own, or one below the target's root.

    A relative root starts at the repository's top level. If `is_found_by_name`, return the full name in the
    target's catalog instead: only the catalog knows the location.

    Raises:
        ConfigError: The target has no root, does not allow the location, or its catalog cannot contain the
            name.
    """
    location = contract.location
    if location is not None and _is_absolute(location):
        return _allowed(contract, target, _plain(location), repository)
    if is_found_by_name(contract, target):
        return _name_in_catalog(contract, target)
    if target.root is None:
        raise ConfigError(
            f"{contract.table} has no location in target {target.name}",
            help=f"give the contract an absolute location, or targets.{target.name} a root",
        )
    below = location if location is not None else contract.default_location
    parts = PurePosixPath(below).parts
    if not parts or ".." in parts:
        raise _not_allowed(contract, f"location {below!r} leaves the target's root")
    return f"{absolute_location(target.root, repository)}/{'/'.join(parts)}"


def declared_location(contract: Contract) -> str:
    """Return the declared location, or the default one, which is relative to the root of any target."""
    return _plain(contract.location or contract.default_location)


def is_found_by_name(contract: Contract, target: Target) -> bool:
    """Whether the table's location comes from the target's catalog, not from the contract."""
    return target.catalog is not None and contract.location is None


def absolute_location(reference: str, folder: Path) -> str:
    """Return a location in the form of `table_location`; a relative path starts at the folder.

    The path may contain ``..``.
    """
    is_absolute = _is_absolute(reference)
    return _without_parents(_plain(reference if is_absolute else str(folder / reference)))


def root_location(target: Target, repository: Path) -> str | None:
    """Return the absolute location of a target's root; None if it has none."""
    if target.root is None:
        return None
    return absolute_location(target.root, repository)


def allowed_roots(target: Target, repository: Path) -> list[str]:
    """Return the absolute locations below which a target allows others."""
    roots = (root for root in (target.root, *target.allowed_locations) if root is not None)
    return [absolute_location(root, repository) for root in roots]


def _name_in_catalog(contract: Contract, target: Target) -> str:
    try:
        return full_name(contract.table, target)
    except ConfigError as error:
        raise ConfigError(error.message, help=error.help, location=contract.anchors.get(("table",))) from None


def _allowed(contract: Contract, target: Target, location: str, repository: Path) -> str:
    roots = allowed_roots(target, repository)
    if ".." in PurePosixPath(location).parts:
        raise _not_allowed(contract, f"location {location!r} contains '..'")
    if not any(_is_below(location, root, target) for root in roots):
        raise _not_allowed(contract, f"location {location!r} is not allowed in target {target.name}")
    return location


def _is_below(location: str, root: str, target: Target) -> bool:
    """Whether a location is at or below a root, as written or as the store holds it: ``s3a`` is ``s3``."""
    as_written = (location, root)
    as_held = (location_key(location, target.storage), location_key(root, target.storage))
    return any(f"{inner}/".startswith(f"{outer.rstrip('/')}/") for inner, outer in (as_written, as_held))


def _not_allowed(contract: Contract, message: str) -> ConfigError:
    return ConfigError(
        message,
        help="a location must be below the target's root or one of its allowed_locations",
        location=contract.anchors.get(("location",)),
    )


def _without_parents(location: str) -> str:
    """Resolve ``..`` in a local path; after a symbolic link it is the parent of the link's target."""
    if not location.startswith("/"):
        return location
    path = Path("/")
    for part in location.split("/"):
        if part != "..":
            path /= part
        else:
            path = (path.resolve() if path.is_symlink() else path).parent
    return str(path)


def _plain(location: str) -> str:
    """Turn a ``file:`` URI into a path, decoded once; drop empty segments and ``.``.

    Paths are not decoded: Spark takes the percent sign in ``delta.`/lake/a%20b` `` literally.
    """
    if match := _FILE.fullmatch(location):
        location = unquote(match["path"])
    scheme, separator, rest = location.partition("://")
    if not separator:
        scheme, rest = "", location
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    start = "/" if rest.startswith("/") else ""
    return f"{scheme}{separator}{start}{'/'.join(parts)}"


def _is_absolute(location: str) -> bool:
    return location.startswith("/") or _SCHEME.match(location) is not None


def require_reachable(target: Target, repository: Path) -> None:
    """Require that a local root exists: an unmounted root would look like one without tables.

    Raises:
        LiveError: The folder does not exist.
    """
    root = root_location(target, repository)
    if root is not None and root.startswith("/") and not Path(root).is_dir():
        raise LiveError(
            f"the root of target {target.name} does not exist: {root}",
            help=f"mount it, or create it: mkdir -p {root}",
        )


@frozen
class LocationKeys:
    """The location keys of contracts in all targets, found without a request.

    Attributes:
        targets: The configured targets.
        repository: The folder that relative roots start from.
        found: Where live tables were found, by target and table key.
    """

    targets: Mapping[str, Target]
    repository: Path
    found: Mapping[tuple[str | None, str], str] = field(default_factory=dict)

    def of(self, contract: Contract) -> Iterator[LocationKey]:
        """Yield the location keys of a contract's table: one for each target that has it."""
        names: tuple[str | None, ...] = (*(self.targets or (None,)), *contract.targets)
        for name in dict.fromkeys(names):
            here = effective(contract, Environment(name))
            if not here.absent:
                target = self.targets.get(name) if name is not None else None
                found_at = self.found.get((name, contract.key))
                yield name, table_location_key(here, target, self.repository, found_at)


def table_location_key(
    contract: Contract, target: Target | None, repository: Path, found_at: str | None = None
) -> str:
    """Return the location key of an effective contract's table in a target.

    Args:
        contract: The contract.
        target: The target; if it is unknown or has no root, a relative location stays relative.
        repository: The folder that relative roots start from.
        found_at: The table's location if it is known, for instance from the catalog. Until then a table that
            `is_found_by_name` shares its key with no location.
    """
    if found_at is not None:
        return location_key(found_at, target.storage if target else {})
    try:
        location = (
            declared_location(contract) if target is None else table_location(contract, target, repository)
        )
    except ConfigError:  # whoever opens the table reports it
        location = declared_location(contract)
    if target is not None and is_found_by_name(contract, target):
        return table_key(location)
    is_relative = ":" not in location and not location.startswith("/")
    if is_relative:
        return location
    return location_key(location, target.storage if target else {})
