"""The engines that a configuration names, with the line of one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from schemalint.base.errors import ConfigError
from schemalint.base.values import replace
from schemalint.delta.engine import Engine, Engines, parse_engine
from schemalint.project.config import Config
from schemalint.project.config.toml_text import Positions

_EXAMPLES: Final = 'for example "delta-spark 4.4.0", "databricks 16.4" or "fabric 1.3"'
_LONG: Final = ("writers", "apply_with")


def engines_of_target(file: str, text: str, name: str, target: Mapping[str, Any]) -> Engines:
    """Return the engines of a target; ``engine`` and an only writer run the statements too.

    Raises:
        ConfigError: There is no such engine, or ``engine`` stands beside what it is short for.
    """
    path = ("targets", name)
    long = [key for key in _LONG if key in target]
    if "engine" in target and long:
        raise ConfigError(
            f"targets.{name} has engine and {long[0]}: engine is short for both writers and apply_with",
            help="leave engine out",
            location=Positions(file, text).locate((*path, "engine")),
        )
    if "engine" in target:
        (engine,) = parse_engines(file, text, (*path, "engine"), [target["engine"]])
        return Engines(engine, (engine,))
    writers = parse_engines(file, text, (*path, "writers"), target.get("writers", ()))
    if "apply_with" in target:
        (engine,) = parse_engines(file, text, (*path, "apply_with"), [target["apply_with"]])
        return Engines(engine, writers)
    return Engines(writers[0] if len(writers) == 1 else None, writers)


def without_writers(config: Config) -> Config:
    """Return a configuration whose ``[[tables]]`` name no writers; nested ones keep theirs."""
    return replace(config, tables=tuple(replace(entry, writers=()) for entry in config.tables))


def parse_engines(file: str, text: str, path: Sequence[str], names: Iterable[str]) -> tuple[Engine, ...]:
    """Return the engines in the value of a key.

    Raises:
        ConfigError: There is no such engine, or it has no such version.
    """
    engines = []
    for name in names:
        try:
            engines.append(parse_engine(name))
        except ValueError as error:
            raise ConfigError(
                f"{'.'.join(path)} is wrong: {error}",
                help=_EXAMPLES,
                location=Positions(file, text).locate(path, name),
            ) from error
    return tuple(dict.fromkeys(engines))
