"""Where the table of a contract lies in a target."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from schemalint.catalog import full_name
from schemalint.config import Config, Target
from schemalint.errors import ConfigError, LiveError, UsageError
from schemalint.model.contract import Contract

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = re.compile(r"file:(?://(?:localhost)?)?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


def choose_target(config: Config, name: str | None) -> Target:
    """The target of that name, or the only one there is.

    Raises:
        UsageError: There is no such target, or the choice is not clear.
    """
    names = ", ".join(config.targets) or "none"
    if name is None and len(config.targets) == 1:
        return next(iter(config.targets.values()))
    if name is None:
        raise UsageError("which target?", help=f"--target NAME; configured: {names}")
    if name not in config.targets:
        raise UsageError(f"there is no target {name!r}", help=f"configured: {names}")
    return config.targets[name]


def table_location(contract: Contract, target: Target, repository: Path) -> str:
    """The absolute place of a table: its own location, or one below the target's root.

    A root that is a relative path is taken from the repository's top level. A table that `is_found_by_name`
    has its full name in the target's catalog instead, which alone knows where the table lies.

    Raises:
        ConfigError: The target has no root, the location lies outside of what the target allows, or the
            name is none of the target's catalog.
    """
    location = contract.location
    if location is not None and _is_absolute(location):
        return _allowed(contract, target, _plain(location), repository)
    if is_found_by_name(contract, target):
        return _name_in_catalog(contract, target)
    if target.root is None:
        raise ConfigError(
            f"{contract.table} has no place in target {target.name}",
            help=f"give the contract an absolute location, or targets.{target.name} a root",
        )
    below = location if location is not None else contract.table.replace("`", "").replace(".", "/")
    parts = PurePosixPath(below).parts
    if not parts or ".." in parts:
        raise _not_allowed(contract, f"location {below!r} leaves the target's root")
    return f"{_root(target.root, repository)}/{'/'.join(parts)}"


def is_found_by_name(contract: Contract, target: Target) -> bool:
    """Whether the target's catalog says where the table lies: the contract does not."""
    return target.catalog is not None and contract.location is None


def absolute_location(reference: str, folder: Path) -> str:
    """A place as `table_location` gives it; a relative path is taken from the folder, and may hold ``..``."""
    return _root(reference, folder)


def _name_in_catalog(contract: Contract, target: Target) -> str:
    try:
        return full_name(contract.table, target)
    except ConfigError as error:
        place = contract.anchors.get(("table",))
        raise ConfigError(error.message, help=error.help, location=place) from None


def _allowed(contract: Contract, target: Target, location: str, repository: Path) -> str:
    prefixes = [_root(one, repository) for one in (target.root, *target.allowed_locations) if one is not None]
    if ".." in PurePosixPath(location).parts:
        raise _not_allowed(contract, f"location {location!r} holds '..'")
    if not any(location == one or location.startswith(one + "/") for one in prefixes):
        raise _not_allowed(contract, f"location {location!r} is not allowed in target {target.name}")
    return location


def _not_allowed(contract: Contract, message: str) -> ConfigError:
    return ConfigError(
        message,
        help="a location lies below the target's root or one of its allowed_locations",
        location=contract.anchors.get(("location",)),
    )


def _root(root: str, repository: Path) -> str:
    return _without_parents(_plain(root if _is_absolute(root) else str(repository / root)))


def _without_parents(location: str) -> str:
    """A local path without ``..``; behind a symbolic link that is the folder above the link's target."""
    if not location.startswith("/"):
        return location
    above = Path("/")
    for part in location.split("/"):
        if part != "..":
            above /= part
        else:
            above = (above.resolve() if above.is_symlink() else above).parent
    return str(above)


def _plain(location: str) -> str:
    """A ``file:`` URI as the path that it is, decoded once; no empty and no idle segments.

    A path is never decoded again: Spark takes ``delta.`/lake/a%20b` `` as it is written.
    """
    if match := _FILE.fullmatch(location):
        location = unquote(match["path"])
    scheme, separator, rest = location.partition("://")
    if not separator:
        scheme, rest = "", location
    kept = [part for part in rest.split("/") if part not in ("", ".")]
    start = "/" if rest.startswith("/") else ""
    return f"{scheme}{separator}{start}{'/'.join(kept)}"


def _is_absolute(location: str) -> bool:
    return location.startswith("/") or _SCHEME.match(location) is not None


def require_reachable(target: Target, repository: Path) -> None:
    """A local root must be there: one that is not mounted looks like one without tables.

    Raises:
        LiveError: The folder does not exist.
    """
    if target.root is None:
        return
    root = _root(target.root, repository)
    if root.startswith("/") and not Path(root).is_dir():
        raise LiveError(
            f"the root of target {target.name} is not there: {root}",
            help=f"mount it, or make it: mkdir -p {root}",
        )
