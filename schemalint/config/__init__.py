"""The configuration in ``schemalint.toml``, or in ``[tool.schemalint]`` of ``pyproject.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from schemalint import limits
from schemalint.delta.engine import Engine
from schemalint.errors import ConfigError, Location
from schemalint.model.consumer import Consumer
from schemalint.model.finding import Severity
from schemalint.reading import read_plain
from schemalint.values import field, frozen

OptionValue: TypeAlias = str | int | float | bool
Cosmetic: TypeAlias = Literal["now", "ride-along"]

FILES = ("schemalint.toml", "pyproject.toml")


@frozen
class Target:
    """An environment to which contracts are applied.

    Attributes:
        root: The folder of all tables whose contract gives no absolute location.
        catalog: The catalog that holds the tables, the first part of their names.
        catalog_uri: The address of the catalog's API, e.g. ``https://host/api/2.1/unity-catalog``.
        catalog_token: The catalog's access token, as ``${NAME}`` of an environment variable.
        storage: Settings of the object store, with secrets as ``${NAME}``: see
            `schemalint.config.trust.resolve_storage`.
        allowed_locations: Prefixes that an absolute location may have, in addition to `root`.
        create: Whether a missing table may be created.
        engine: The engine that writes the tables, if it is named.
    """

    name: str
    root: str | None = None
    catalog: str | None = None
    catalog_uri: str | None = None
    catalog_token: str | None = None
    allowed_locations: tuple[str, ...] = ()
    create: bool = True
    engine: Engine | None = None
    storage: Mapping[str, str] = field(default_factory=dict)


@frozen
class TableSettings:
    """Settings for some of the tables.

    Attributes:
        match: A glob over table names, ignoring case.
        ignore: Rules that do not check these tables.
        consumers: The names of consumers of these tables.
    """

    match: str
    ignore: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()


@frozen
class SparkSettings:
    """Settings with which a Spark session is started."""

    master: str | None = None
    remote: str | None = None
    packages: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


@frozen
class Config:
    """All settings; command-line options override them.

    Attributes:
        file: The file that holds the settings, None if there is none.
        contracts: Globs of contract files, ``!`` excludes; empty for all contract files.
        fail_on: The lowest severity that fails the run, None for "never".
        approved_plans: Hashes of plans whose upgrades and destructive steps are approved.
        removed: The reason by table, for contracts whose removal is approved.
        options: The options of rules, by the rule's code.
        consumers: The declared consumers by name.
        consumer_lines: The lines that set their keys, by name and key.
        clients: Rows that precede those of the client table: see `schemalint.config.client_rows`.
        plugins: Rule files in the repository, which run only if the command line allows them.
        cosmetic: When comments and the order of columns are applied to a table that a tracked stream reads:
            ``now``, or with its next other change (``ride-along``).
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
    consumers: Mapping[str, Consumer] = field(default_factory=dict)
    consumer_lines: Mapping[tuple[str, str], Location] = field(default_factory=dict, compare=False)
    clients: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    targets: Mapping[str, Target] = field(default_factory=dict)
    spark: SparkSettings = SparkSettings()
    cosmetic: Cosmetic = "now"


def load(read: Callable[[str], bytes | None]) -> Config:
    """Load the configuration of a repository.

    Args:
        read: Return the content of a file in the repository's root, None if the file does not exist.

    Raises:
        ConfigError: A file is not valid TOML, or holds invalid settings.
    """
    for name in FILES:
        data = read(name)
        if data is None or (name == "pyproject.toml" and b"schemalint" not in data):
            continue
        return parse(name, data)
    return Config()


def read_file(path: Path) -> bytes | None:
    """Read a configuration file; None if it does not exist.

    Raises:
        ConfigError: The path exists but cannot be read; it is never treated as missing.
    """
    try:
        return read_plain(path, limits.MAX_CONFIG)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            return None
        message = f"{path.name} cannot be read: {error.strerror}"
        raise ConfigError(message, help="repair it, or run with --isolated") from error


def parse(file: str, data: bytes) -> Config:
    """Parse the settings in one file.

    Raises:
        ConfigError: The file is not valid TOML, or holds invalid settings.
    """
    try:
        text = data.decode()
        _require_short_keys(text)
        content: Mapping[str, Any] = tomllib.loads(text)
        if file.endswith("pyproject.toml"):
            content = _section(file, content)
        _require_small_values(content)
    except RecursionError:
        raise ConfigError("not valid TOML: it is nested too deeply", location=Location(file)) from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, an integer with too many digits
        raise ConfigError(f"not valid TOML: {error}", location=Location(file)) from error
    from schemalint.config import model  # noqa: PLC0415 (a repository without settings does not load pydantic)

    return model.validated(file, text, content)


def _require_short_keys(text: str) -> None:
    """Refuse dotted keys with many parts: tomllib takes time in proportion to the square of their number."""
    if match := _LONG_KEY.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise ValueError(f"line {line}: a key has more than {limits.MAX_KEY_PARTS} parts")


_KEY_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:\.[ \t]*{_KEY_PART}){{{limits.MAX_KEY_PARTS}}}")


def _require_small_values(content: object) -> None:
    """Refuse deep nesting, and integers that TOML does not have: printing a large one is an error."""
    level: list[object] = [content]
    for _ in range(limits.MAX_CONFIG_DEPTH):
        if any(isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 for value in level):
            raise ValueError("an integer has more than 64 bits")
        tables = (value.values() for value in level if isinstance(value, dict))
        arrays = (value for value in level if isinstance(value, list))
        level = [value for values in (*tables, *arrays) for value in values]
        if not level:
            return
    raise ValueError(f"more than {limits.MAX_CONFIG_DEPTH} levels of nesting")


def _section(file: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table ``[tool.schemalint]``, in any TOML notation; empty if it is missing."""
    tool = content.get("tool", {})
    section = tool.get("schemalint", {}) if isinstance(tool, dict) else {}
    if not isinstance(section, dict):
        raise ConfigError(
            "tool.schemalint must be a table", help="[tool.schemalint]", location=Location(file)
        )
    return section
