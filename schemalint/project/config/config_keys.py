"""The keys of the configuration, defined once, and their validation.

The keys are not `BaseModel` classes, because importing pydantic takes longer than the rest of a check.
`document.shape` decides whether data fits; `config_errors` explains what is wrong.
"""

import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Required, TypeAlias, cast

from schemalint.base import limits
from schemalint.base.document.shape import check_for
from schemalint.base.errors import ConfigError
from schemalint.base.redaction import without_secrets
from schemalint.delta.engine import Engines
from schemalint.model.consumer import Consumer
from schemalint.model.exception import SOURCES
from schemalint.model.finding import Severity
from schemalint.model.option_value import OptionValue
from schemalint.project import config
from schemalint.project.config.consumer_keys import (
    ConsumerKeys,
    EvidenceKeys,
    RowKeys,
    StreamKeys,
    UnblockKeys,
    UserRowKeys,
    declared_consumers,
    require_declared,
)
from schemalint.project.config.contracts_entry import MOST_MIB, ContractsEntry
from schemalint.project.config.storage_settings import is_public_setting, variable_of
from schemalint.project.config.target_engines import engines_of_target, parse_engines
from schemalint.project.config.toml_text import Positions, locate

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:  # pydantic refuses typing.TypedDict before Python 3.12
    from typing_extensions import TypedDict

if TYPE_CHECKING:
    from pydantic import ConfigDict

_CONFIG: "Final[ConfigDict]" = {"extra": "forbid", "strict": True, "use_attribute_docstrings": True}

SeverityWord = Literal["error", "warning", "info"]


class TargetKeys(TypedDict, total=False):
    """``[targets.<name>]``."""

    root: str
    """Folder of all tables whose contract has no absolute location: a path or a URI."""
    catalog: str
    """Catalog that holds the tables: the first part of their full names."""
    catalog_uri: str
    """Address of the catalog's API."""
    catalog_token: str
    """Access token of the catalog, as the name of an environment variable: `${NAME}`."""
    allowed_locations: list[str]
    """Prefixes that an absolute location may have, in addition to `root`."""
    create: bool
    """Whether `apply` may create a missing table; true by default."""
    engine: str
    """Only engine that writes the tables, with its version: short for `writers` and `apply_with`."""
    writers: list[str]
    """Engines that write the tables, each with its version."""
    apply_with: str
    """Engine that runs the statements, with its version."""
    single_writer: bool
    """Whether nothing else commits to the tables while `apply` runs; false by default."""
    unmasked: bool
    """Whether sessions see the tables without row filters and column masks; false by default."""
    storage: dict[str, str]
    """Settings of the object store; secrets are names of environment variables: `${NAME}`."""
    variables: dict[str, str]
    """Values of the variables that entries of `contracts` name, where this target has other ones."""


class SparkKeys(TypedDict, total=False):
    """``[spark]``."""

    master: str
    """Spark master of the session that `apply` starts."""
    remote: str
    """Spark Connect server, instead of a session of its own."""
    packages: list[str]
    """Maven packages that the session loads."""
    conf: dict[str, str | int | float | bool]
    """Spark configuration properties."""


class ExceptionsKeys(TypedDict, total=False):
    """``[exceptions]``."""

    accept: list[Literal["contract", "file"]]
    """Kinds of exceptions that count in the change that adds them; all by default."""


OptionKeys: TypeAlias = dict[str, dict[str, OptionValue]]
"""The options of rules, by code and name."""


class TableKeys(TypedDict, total=False):
    """``[[tables]]``: settings for some of the tables."""

    match: Required[str]
    """Glob over table names, ignoring case."""
    ignore: list[str]
    """Rules that do not check these tables: codes, prefixes or names."""
    consumers: list[str]
    """Names of consumers of these tables."""
    writers: list[str]
    """Engines that write these tables, beside those of the target."""
    options: OptionKeys
    """Options of rules for these tables, by the rule's code."""


class ManagedByKeys(TypedDict, total=False):
    """``managed_by`` of an entry of ``contracts``: the other tool that brings tables to their declaration."""

    tool: Required[str]
    """Name of the tool, e.g. `job`."""
    how: Literal["alter", "replace", "create"]
    """Whether the tool alters a table (the default), replaces it, or only creates it where it is missing."""


class ContractsEntryKeys(TypedDict, total=False):
    """An entry of ``contracts``: files that declare tables in another format than schemalint's own."""

    path: Required[str]
    """Path of the file, such as `target/manifest.json`, which git may ignore; for `sql` a glob."""
    format: Required[str]
    """Format of the files: `dbt` or `sql`."""
    variables: dict[str, str]
    """Values of the variables in the files, by name (only `sql`)."""
    using: Literal["delta"]
    """Format of a table without `USING`: `delta`; without this key it is left out (only `sql`)."""
    managed_by: str | ManagedByKeys
    """Tool that brings the tables to their declaration; by default the statement says it (only `sql`)."""
    models: list[str]
    """Models that count although nothing enforces their contract: `path:models/marts`, or globs of paths."""
    project: str
    """Folder of the project that the file is made from; the folder above that of the file by default."""
    catalog: str
    """File with the types of columns that no model declares; `catalog.json` beside the file by default."""
    most_mib: int
    """Most MiB of the file that are read; 256 by default."""


ConfigKeys = TypedDict(
    "ConfigKeys",
    {
        "root": bool,
        "locked": list[str],
        "baseline": str,
        "contracts": list[str | ContractsEntryKeys],
        "select": list[str],
        "extend-select": list[str],
        "ignore": list[str],
        "severity": dict[str, SeverityWord],
        "fail-on": Literal["error", "warning", "info", "never"],
        "against": str,
        "approved-plans": list[str],
        "tables": list[TableKeys],
        "clients": list[UserRowKeys],
        "consumers": dict[str, ConsumerKeys],
        "options": OptionKeys,
        "plugins": list[str],
        "targets": dict[str, TargetKeys],
        "spark": SparkKeys,
        "cosmetic": config.Cosmetic,
        "exceptions": ExceptionsKeys,
    },
    total=False,
)
for _keys in (
    TargetKeys,
    SparkKeys,
    ExceptionsKeys,
    TableKeys,
    ContractsEntryKeys,
    ManagedByKeys,
    UnblockKeys,
    StreamKeys,
    ConsumerKeys,
    EvidenceKeys,
    RowKeys,
    UserRowKeys,
    ConfigKeys,
):
    _keys.__pydantic_config__ = _CONFIG  # type: ignore[union-attr]  # how pydantic is configured


def validated(
    file: str,
    text: str,
    content: Mapping[str, Any],
    folder: str | None = "",
    outer_consumers: Mapping[str, Consumer] = MappingProxyType({}),
) -> config.Config:
    """Return the settings as values.

    Args:
        file: The path of the file.
        text: Its text.
        content: The settings in it.
        folder: The folder that relative paths in it begin in; None for the repository's top.
        outer_consumers: The consumers of other files that this one may name.

    Raises:
        ConfigError: A key is unknown, a value has the wrong type, or a secret is written in plain text.
    """
    if not check_for(ConfigKeys)(content):
        # Imported here because pydantic costs more than the rest of a check.
        from schemalint.project.config.config_errors import refuse  # noqa: PLC0415

        refuse(file, text, content, ConfigKeys, ContractsEntryKeys)
    keys = cast("ConfigKeys", content)
    _require_few_globs(file, text, keys)
    _require_globs_inside(file, text, keys)
    _require_no_secrets(file, text, keys)
    return _values(file, text, keys, folder, outer_consumers)


def _require_few_globs(file: str, text: str, keys: ConfigKeys) -> None:
    for name, entries in (("contracts", keys.get("contracts", ())), ("tables", keys.get("tables", ()))):
        if len(entries) > limits.MAX_GLOBS:
            raise ConfigError(
                f"{name} has more than {limits.MAX_GLOBS:,} entries, a limit of schemalint",
                help="use globs that match more",
                location=locate(file, text, (name,)),
            )


def _require_globs_inside(file: str, text: str, keys: ConfigKeys) -> None:
    for entry in keys.get("contracts", ()):
        glob = entry if isinstance(entry, str) else entry["path"]
        if glob.startswith("/"):
            raise ConfigError(
                f"the glob {without_secrets(glob)[:40]!r} leads out of the repository",
                help="begin at the folder of the configuration",
                location=Positions(file, text).locate(("contracts",), glob),
            )


def _require_no_secrets(file: str, text: str, keys: ConfigKeys) -> None:
    for name, target in keys.get("targets", {}).items():
        storage = target.get("storage", {})
        secrets = {
            f"storage.{key}": value for key, value in storage.items() if not is_public_setting(key, value)
        }
        if "catalog_token" in target:
            secrets["catalog_token"] = target["catalog_token"]
        for key, value in secrets.items():
            if variable_of(value) is None:
                raise ConfigError(
                    f"targets.{name}.{key} must be the name of an environment variable",
                    help='write "${NAME}": secrets do not belong in a repository',
                    location=locate(file, text, ("targets", name, *key.split(".", 1))),
                )


def _values(
    file: str, text: str, keys: ConfigKeys, folder: str | None, outer_consumers: Mapping[str, Consumer]
) -> config.Config:
    spark = keys.get("spark", {})
    fail_on = keys.get("fail-on", "error")
    consumers = declared_consumers(file, text, keys.get("consumers", {}))
    names = (name for entry in keys.get("tables", ()) for name in entry.get("consumers", ()))
    require_declared(file, text, names, {**outer_consumers, **consumers})
    return config.Config(
        file=file,
        folder=folder,
        is_root=keys.get("root", False),
        locked=tuple(keys.get("locked", ())),
        baseline=_from_top(folder, keys["baseline"]) if "baseline" in keys else None,
        contracts=tuple(entry for entry in keys.get("contracts", ()) if isinstance(entry, str)),
        format_entries=tuple(
            _contracts_entry(entry, folder)
            for entry in keys.get("contracts", ())
            if not isinstance(entry, str)
        ),
        select=tuple(keys["select"]) if "select" in keys else None,
        extend_select=tuple(keys.get("extend-select", ())),
        ignore=tuple(keys.get("ignore", ())),
        severity={code: Severity[word.upper()] for code, word in keys.get("severity", {}).items()},
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        against=keys.get("against"),
        tables=tuple(
            config.TableSettings(
                entry["match"],
                tuple(entry.get("ignore", ())),
                tuple(entry.get("consumers", ())),
                parse_engines(file, text, ("tables", "writers"), entry.get("writers", ())),
                entry.get("options", {}),
            )
            for entry in keys.get("tables", ())
        ),
        consumers=consumers,
        consumer_lines={
            (name, key): locate(file, text, ("consumers", name, key))
            for name, consumer_keys in keys.get("consumers", {}).items()
            for key in consumer_keys
        },
        sources=((file, text),),
        clients=tuple(keys.get("clients", ())),
        options=keys.get("options", {}),
        plugins=tuple(_from_top(folder, name) for name in keys.get("plugins", ())),
        approved_plans=frozenset(keys.get("approved-plans", ())),
        targets={
            name: _target(name, target, folder, engines_of_target(file, text, name, target))
            for name, target in keys.get("targets", {}).items()
        },
        spark=config.SparkSettings(
            master=spark.get("master"),
            remote=spark.get("remote"),
            packages=tuple(spark.get("packages", ())),
            conf={key: _conf_text(value) for key, value in spark.get("conf", {}).items()},
        ),
        cosmetic=keys.get("cosmetic", "now"),
        accepted=tuple(keys.get("exceptions", {}).get("accept", SOURCES)),
    )


def _from_top(folder: str | None, path: str) -> str:
    """Return a path or URI that begins in a folder as one that begins at the repository's top."""
    is_relative = bool(path) and not path.startswith(("/", "\\")) and not re.match(_SCHEME, path)
    return f"{folder}/{path}" if folder and is_relative else path


_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]*:"


def _target(name: str, keys: TargetKeys, folder: str | None, engines: Engines) -> config.Target:
    return config.Target(
        name,
        root=_from_top(folder, keys["root"]) if "root" in keys else None,
        catalog=keys.get("catalog"),
        catalog_uri=keys.get("catalog_uri"),
        catalog_token=keys.get("catalog_token"),
        allowed_locations=tuple(_from_top(folder, place) for place in keys.get("allowed_locations", ())),
        create=keys.get("create", True),
        engines=engines,
        single_writer=keys.get("single_writer", False),
        unmasked=keys.get("unmasked", False),
        storage=keys.get("storage", {}),
        variables=keys.get("variables", {}),
    )


def _contracts_entry(keys: ContractsEntryKeys, folder: str | None) -> ContractsEntry:
    setting = keys.get("managed_by")
    managed_by: ManagedByKeys = {"tool": setting} if isinstance(setting, str) else setting or {"tool": ""}
    return ContractsEntry(
        path=_from_top(folder, keys["path"]),
        format=keys["format"],
        models=tuple(keys.get("models", ())),
        project=_from_top(folder, keys["project"]) if "project" in keys else None,
        catalog=_from_top(folder, keys["catalog"]) if "catalog" in keys else None,
        most_mib=keys.get("most_mib", MOST_MIB),
        variables=keys.get("variables", {}),
        using=keys.get("using"),
        managed_by=managed_by["tool"] or None,
        how=managed_by.get("how"),
    )


def _conf_text(value: str | float | bool) -> str:  # noqa: FBT001
    return str(value).lower() if isinstance(value, bool) else str(value)
