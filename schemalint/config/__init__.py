"""The configuration: ``schemalint.toml``, or ``[tool.schemalint]`` in ``pyproject.toml``, or none."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from schemalint.config.storage import resolved
from schemalint.errors import ConfigError, Location
from schemalint.model.finding import Severity
from schemalint.values import field, frozen

OptionValue: TypeAlias = str | int | float | bool

FILES = ("schemalint.toml", "pyproject.toml")


@frozen
class Target:
    """An environment that contracts are applied to.

    Attributes:
        root: Where tables lie whose contract gives no absolute location.
        catalog: The first part of the names of tables that are reached by name.
        catalog_uri: Where that catalog answers, e.g. ``https://host/api/2.1/unity-catalog``.
        catalog_token: What opens it, as ``${NAME}`` of an environment variable.
        storage: Settings of the object store, secrets among them as ``${NAME}``: see `resolve_storage`.
        allowed_locations: Prefixes beside `root` that an absolute location may have.
        create: Whether a missing table may be created.
    """

    name: str
    root: str | None = None
    catalog: str | None = None
    catalog_uri: str | None = None
    catalog_token: str | None = None
    allowed_locations: tuple[str, ...] = ()
    create: bool = True
    engine: str | None = None
    storage: Mapping[str, str] = field(default_factory=dict)


@frozen
class TableSettings:
    """What differs for some tables.

    Attributes:
        match: A glob over names of tables, ignoring case.
        ignore: Rules that say nothing of them.
    """

    match: str
    ignore: tuple[str, ...] = ()


@frozen
class SparkSettings:
    """How a Spark session is started."""

    master: str | None = None
    remote: str | None = None
    packages: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


@frozen
class Config:
    """All settings; a flag of the command line wins over each.

    Attributes:
        file: Where they stand, None if nowhere.
        contracts: Globs, ``!`` excludes; empty for every file that is a contract.
        fail_on: None is "never".
        approved_plans: The hashes of plans whose upgrades and destructive steps are approved.
        removed: The approved reason by table, for contracts that may go.
        options: The options of rules, by the rule's code.
        plugins: Files of rules in the repository, which run only when the command line allows it.
    """

    file: str | None = None
    contracts: tuple[str, ...] = ()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    preview: bool = False
    fail_on: Severity | None = Severity.ERROR
    against: str | None = None
    approved_plans: frozenset[str] = frozenset()
    removed: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[TableSettings, ...] = ()
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    targets: Mapping[str, Target] = field(default_factory=dict)
    spark: SparkSettings = SparkSettings()


def load(read: Callable[[str], bytes | None]) -> Config:
    """The configuration of a repository.

    Args:
        read: The content of a file at the repository's root, None if there is none.

    Raises:
        ConfigError: A file is no TOML, or holds what is not understood.
    """
    for name in FILES:
        data = read(name)
        if data is None or (name == "pyproject.toml" and b"schemalint" not in data):
            continue
        return parse(name, data)
    return Config()


def read_file(path: Path) -> bytes | None:
    """A file of the configuration; None if nothing has that name.

    Raises:
        ConfigError: Something has the name that is no file, or cannot be read: it is not taken for nothing.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not path.is_symlink():
            return None
        reason = "it is a link to nothing" if path.is_symlink() and not path.exists() else error.strerror
        message = f"{path.name} cannot be read: {reason}"
        raise ConfigError(message, help="mend it, or run with --isolated") from error


def parse(file: str, data: bytes) -> Config:
    """The settings in one file.

    Raises:
        ConfigError: The file is no TOML, or holds what is not understood.
    """
    try:
        text = data.decode()
        content: Mapping[str, Any] = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"this is no TOML: {error}", location=Location(file)) from error
    if file.endswith("pyproject.toml"):
        content = _section(file, content)
    from schemalint.config import model  # noqa: PLC0415 (pydantic is only loaded where there are settings)

    return model.validated(file, text, content)


def resolve_storage(target: Target, environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """What opens a target's store, with the values themselves; for use, never to be shown.

    Args:
        target: The environment.
        environ: The process's own by default.

    Raises:
        ConfigError: A variable that the target names is not set.
    """
    return resolved(target, os.environ if environ is None else environ)


def _section(file: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """``[tool.schemalint]``, however it is spelled; empty if it is not there."""
    tool = content.get("tool", {})
    section = tool.get("schemalint", {}) if isinstance(tool, dict) else {}
    if not isinstance(section, dict):
        raise ConfigError(
            "tool.schemalint must be a table", help="[tool.schemalint]", location=Location(file)
        )
    return section
