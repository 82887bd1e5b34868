"""What may stand in the configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemalint import config
from schemalint.errors import ConfigError, Location
from schemalint.model.finding import Severity
from schemalint.model.table import table_key

_SECRET = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")

SeverityWord = Literal["error", "warning", "info"]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=lambda name: name.replace("_", "-")
    )


class TargetModel(_Strict):
    """``[targets.<name>]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, alias_generator=None)

    root: str | None = None
    catalog: str | None = None
    allowed_locations: list[str] = []
    create: bool = True
    engine: str | None = None
    storage: dict[str, str] = {}


class SparkModel(_Strict):
    """``[spark]``."""

    master: str | None = None
    remote: str | None = None
    packages: list[str] = []
    conf: dict[str, str | int | float | bool] = {}


class RemovedModel(_Strict):
    """``[[removed]]``: a contract that may go."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, alias_generator=None)

    table: str
    reason: str
    approved_by: str | None = None


class ConfigModel(_Strict):
    """All of it."""

    contracts: list[str] = []
    select: list[str] | None = None
    extend_select: list[str] = []
    ignore: list[str] = []
    severity: dict[str, SeverityWord] = {}
    preview: bool = False
    fail_on: Literal["error", "warning", "info", "never"] = "error"
    against: str | None = None
    removed: list[RemovedModel] = []
    targets: dict[str, TargetModel] = {}
    spark: SparkModel = Field(default_factory=SparkModel)


def validated(file: str, text: str, content: Mapping[str, Any]) -> config.Config:
    """The settings as values.

    Raises:
        ConfigError: A key is unknown, a value is of the wrong kind, or a secret stands in the open.
    """
    try:
        model = ConfigModel.model_validate(content)
    except ValidationError as error:
        raise _first(file, text, error) from None
    for name, target in model.targets.items():
        for key, value in target.storage.items():
            if not _SECRET.fullmatch(value):
                raise ConfigError(
                    f"targets.{name}.storage.{key} must be the name of an environment variable",
                    help='write "${NAME}": what opens a store does not belong into a repository',
                    location=_place(file, text, key),
                )
    return _values(file, model)


def _values(file: str, model: ConfigModel) -> config.Config:
    return config.Config(
        file=file,
        contracts=tuple(model.contracts),
        select=tuple(model.select) if model.select is not None else None,
        extend_select=tuple(model.extend_select),
        ignore=tuple(model.ignore),
        severity={code: Severity[word.upper()] for code, word in model.severity.items()},
        preview=model.preview,
        fail_on=None if model.fail_on == "never" else Severity[model.fail_on.upper()],
        against=model.against,
        removed={table_key(entry.table): entry.reason for entry in model.removed},
        targets={
            name: config.Target(
                name,
                root=target.root,
                catalog=target.catalog,
                allowed_locations=tuple(target.allowed_locations),
                create=target.create,
                engine=target.engine,
                storage=target.storage,
            )
            for name, target in model.targets.items()
        },
        spark=config.SparkSettings(
            master=model.spark.master,
            remote=model.spark.remote,
            packages=tuple(model.spark.packages),
            conf={key: _conf_text(value) for key, value in model.spark.conf.items()},
        ),
    )


def _conf_text(value: str | float | bool) -> str:  # noqa: FBT001
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first(file: str, text: str, error: ValidationError) -> ConfigError:
    problem = error.errors(include_url=False, include_input=False)[0]
    path = [str(step) for step in problem["loc"]]
    where = ".".join(path)
    place = _place(file, text, path[-1] if path else "")
    if problem["type"] != "extra_forbidden":
        what = problem["msg"].removeprefix("Input should be ")
        return ConfigError(f"{where} must be {what}", location=place)
    known = _known_keys(path[:-1])
    close = get_close_matches(path[-1], known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "known here: " + ", ".join(sorted(known))
    return ConfigError(f"unknown key {where}", help=hint, location=place)


def _known_keys(path: list[str]) -> list[str]:
    models: dict[str, type[BaseModel]] = {
        "targets": TargetModel,
        "removed": RemovedModel,
        "spark": SparkModel,
    }
    model = models.get(path[0] if path else "", ConfigModel)
    return [field.alias or name for name, field in model.model_fields.items()]


def _place(file: str, text: str, key: str) -> Location:
    """TOML's reader keeps no positions: the first line that gives the key a value."""
    pattern = re.compile(rf"^\s*[\[\"']*(?:[\w.-]*\.)?{re.escape(key)}[\"'\]]*\s*(?:=|$)")
    for number, line in enumerate(text.splitlines(), 1):
        if key and pattern.match(line):
            column = line.index(key) + 1
            return Location(file, number, column, number, column + len(key))
    return Location(file)
