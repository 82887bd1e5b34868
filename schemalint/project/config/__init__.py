"""The configuration in ``schemalint.toml``, or in ``[tool.schemalint]`` of ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from schemalint.base import limits
from schemalint.base.errors import ConfigError, Location
from schemalint.base.phrases import affixed
from schemalint.base.untrusted_files import read_plain
from schemalint.base.values import field, frozen
from schemalint.delta.engine import Engine, Engines
from schemalint.model.consumer import Consumer
from schemalint.model.exception import SOURCES
from schemalint.model.finding import Severity
from schemalint.model.option_value import OptionValue
from schemalint.project.config.contracts_entry import ContractsEntry
from schemalint.project.config.toml_text import find_option, read_toml
from schemalint.project.git import DEFAULT_GLOBS, including
from schemalint.project.git.listing import within

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
            `schemalint.project.config.trust.resolve_storage`.
        allowed_locations: Prefixes that an absolute location may have, in addition to `root`.
        create: Whether a missing table may be created.
        engines: The engines that write the tables, as far as they are named.
        single_writer: Whether nothing else commits to the tables while `apply` runs.
        unmasked: Whether sessions see the tables without row filters and column masks.
        variables: Values of variables in files of other formats, where they differ in this target.
    """

    name: str
    root: str | None = None
    catalog: str | None = None
    catalog_uri: str | None = None
    catalog_token: str | None = None
    allowed_locations: tuple[str, ...] = ()
    create: bool = True
    engines: Engines = Engines()
    single_writer: bool = False
    unmasked: bool = False
    storage: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def engine(self) -> Engine | None:
        """The engine that runs the statements, if it is named."""
        return self.engines.apply_with


@frozen
class TableSettings:
    """Settings for some of the tables.

    Attributes:
        match: A glob over table names, ignoring case.
        ignore: Rules that do not check these tables.
        consumers: The names of consumers of these tables.
        writers: Engines that write these tables, beside those of their target.
        options: The options of rules for these tables, by the rule's code; of several entries, the last one
            counts for each option.
    """

    match: str
    ignore: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    writers: tuple[Engine, ...] = ()
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)


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
        folder: The folder of the file, relative to the repository's top; None for a file that ``--config``
            names, and where no configuration counts: then no nested file counts either.
        is_root: Whether the file says that it is no nested file of a configuration further up.
        nested: The nested files by folder, outer ones first: see `schemalint.project.config.nested_settings`.
        locked: Rules that no nested file can loosen.
        baseline: The file with the findings that do not fail `check`.
        contracts: Globs of contract files, ``!`` excludes; empty for all contract files. See also `globs`.
        format_entries: The entries of `contracts` that name a format.
        fail_on: The lowest severity that fails the run, None for "never".
        approved_plans: Hashes of plans whose upgrades and destructive steps are approved.
        options: The options of rules, by the rule's code.
        consumers: The declared consumers by name.
        consumer_lines: The lines that set their keys, by name and key.
        sources: The names and texts of the files with the settings, for errors.
        clients: Rows that precede those of the client table: see `schemalint.project.config.consumer_keys`.
        plugins: Rule files in the repository, which run only if the command line allows them.
        cosmetic: When comments and the order of columns are applied to a table that a tracked stream reads:
            ``now``, or with its next other change (``ride-along``).
        accepted: The kinds of exceptions that count in the change that adds them (``exceptions.accept``).
    """

    file: str | None = None
    folder: str | None = ""
    is_root: bool = False
    nested: Mapping[str, NestedSettings] = field(default_factory=dict)
    locked: tuple[str, ...] = ()
    baseline: str | None = None
    contracts: tuple[str, ...] = ()
    format_entries: tuple[ContractsEntry, ...] = ()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    fail_on: Severity | None = Severity.ERROR
    against: str | None = None
    approved_plans: frozenset[str] = frozenset()
    tables: tuple[TableSettings, ...] = ()
    consumers: Mapping[str, Consumer] = field(default_factory=dict)
    consumer_lines: Mapping[tuple[str, str], Location] = field(default_factory=dict, compare=False)
    sources: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    clients: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    targets: Mapping[str, Target] = field(default_factory=dict)
    spark: SparkSettings = SparkSettings()
    cosmetic: Cosmetic = "now"
    accepted: tuple[str, ...] = SOURCES

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs of contract files from the repository's top; none leads out of the folder."""
        return within(self.folder or "", self.contracts)

    @property
    def all_globs(self) -> tuple[str, ...]:
        """`globs`, and the paths of the other files that declare tables."""
        if not self.format_entries:
            return self.globs
        prefix = affixed("", self.folder, "/")
        paths = (file.path.removeprefix(prefix) for file in self.format_entries)
        return (*self.globs, *(() if including(self.globs) else DEFAULT_GLOBS), *paths)

    def line_of_option(
        self, path: Sequence[str], value: str = "", match: str | None = None
    ) -> Location | None:
        """Return the line of a rule's option; see `schemalint.project.config.toml_text.find_option`."""
        return find_option(self.sources, path, value, match)

    def at(self, file: str) -> Config:
        """Return the settings for the contracts of a file: with those of its nested files."""
        if not self.nested:
            return self
        folders = map(str, PurePosixPath(file).parents)
        nearest = next((self.nested[folder] for folder in folders if folder in self.nested), None)
        return self if nearest is None else nearest.merged


@frozen
class NestedSettings:
    """A ``schemalint.toml`` in a folder below that of the configuration.

    Attributes:
        file: Its path from the repository's top.
        own: The settings that it holds.
        merged: All settings for the contracts in the folder and below it.
        outer: Those of the folder around it.
        text: Its text.
    """

    file: str
    own: Config
    merged: Config
    outer: Config = field(default_factory=Config, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)


def config_files(folder: str) -> tuple[str, ...]:
    """Return the paths of all files that may hold the configuration of a folder, the nearest first."""
    parts = folder.split("/") if folder else []
    levels = ("/".join((*parts[:length], "")) if length else "" for length in range(len(parts), -1, -1))
    return tuple(f"{level}{name}" for level in levels for name in FILES)


def load(read: Callable[[str], bytes | None], folder: str = "") -> Config:
    """Load the configuration of a folder of a repository, without nested files.

    It is the nearest one, in the folder or above it, that says ``root = true`` or is in a ``pyproject.toml``.
    If there is none, it is the one farthest up.

    Args:
        read: Return the content of a file by its path from the repository's top, None if it does not exist.
        folder: The folder from the repository's top.

    Raises:
        ConfigError: A file is not valid TOML, or holds invalid settings.
    """
    outermost, seen = Config(), set[str]()
    for file in config_files(folder):
        level, _, name = file.rpartition("/")
        data = None if level in seen else read(file)
        if data is None or (name == "pyproject.toml" and not _is_configuration(file, data)):
            continue
        seen.add(level)
        outermost = parse(file, data)
        if outermost.is_root or (level and name == "pyproject.toml"):
            break
    return outermost


def _is_configuration(file: str, data: bytes) -> bool:
    """Whether a ``pyproject.toml`` has settings: one in a folder may only name schemalint as a dependency."""
    if b"schemalint" not in data or "/" not in file:
        return b"schemalint" in data
    tool = read_toml(file, data).get("tool")
    return isinstance(tool, dict) and "schemalint" in tool


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


def parse(file: str, data: bytes, *, is_given: bool = False) -> Config:
    """Parse the settings in one file.

    Args:
        file: The path of the file; relative paths in it begin in its folder.
        data: Its content.
        is_given: Whether ``--config`` names it: then relative paths begin at the repository's top.

    Raises:
        ConfigError: The file is not valid TOML, or holds invalid settings.
    """
    content = read_toml(file, data)
    settings = _section(file, content) if file.endswith("pyproject.toml") else content
    from schemalint.project.config import config_keys  # noqa: PLC0415 (it imports this module)

    folder = None if is_given else file.rpartition("/")[0]
    return config_keys.validated(file, data.decode(), settings, folder)


def _section(file: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table ``[tool.schemalint]``, in any TOML notation; empty if it is missing."""
    tool = content.get("tool", {})
    section = tool.get("schemalint", {}) if isinstance(tool, dict) else {}
    if not isinstance(section, dict):
        raise ConfigError(
            "tool.schemalint must be a table", help="[tool.schemalint]", location=Location(file)
        )
    return section
