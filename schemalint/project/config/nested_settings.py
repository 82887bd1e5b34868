"""``schemalint.toml`` in folders below that of the configuration: settings for the contracts below them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from schemalint.base import limits
from schemalint.base.errors import ConfigError, Location
from schemalint.base.printable import visible
from schemalint.base.values import replace
from schemalint.project.config import Config, NestedSettings
from schemalint.project.config.toml_text import Positions, read_toml
from schemalint.project.git import Beside

NAME: Final = "schemalint.toml"
KEYS: Final = ("select", "extend-select", "ignore", "severity", "tables", "consumers")
"""The keys that a file in a folder below that of the configuration may have."""


def with_nested(config: Config, files: Beside, *, lenient: bool = False) -> Config:
    """Return a configuration with the nested files of its side.

    Args:
        config: The configuration; none with ``folder=None`` has nested files.
        files: The files of the name `NAME` in folders below its own that have contracts.
        lenient: Whether to leave out an invalid file: the change under review may repair that of the base.

    Raises:
        ConfigError: A file cannot be read or is invalid, or there are too many.
    """
    if not files or config.folder is None:
        return config
    size = sum(map(len, files.data.values()))
    if len(files.data) > limits.MAX_NESTED or size > limits.MAX_NESTED_BYTES:
        raise ConfigError(
            f"more than {limits.MAX_NESTED:,} nested files {NAME}, or {limits.MAX_NESTED_BYTES >> 20} MiB of "
            "them, a limit of schemalint",
            help="set `[[tables]]` in the configuration instead",
        )
    result = replace(config, nested={})
    for file in sorted((*files.data, *files.unread), key=lambda file: (file.count("/"), file)):
        try:
            nested = _read(result, file, files)
        except ConfigError:
            if lenient:
                continue
            raise
        if nested is not None:
            folder = str(PurePosixPath(nested.file).parent)
            result = replace(result, nested={**result.nested, folder: nested})
    return result


def _read(config: Config, file: str, files: Beside) -> NestedSettings | None:
    """Read a nested file; None if it is a configuration of its own."""
    name = visible(file)
    if file in files.unread:
        raise ConfigError(f"{name} cannot be read: {files.unread[file]}", help="repair or remove it")
    data = files.data[file]
    content = read_toml(name, data)
    if content.get("root") is True:
        return None
    return _nested(name, data.decode(), content, config.at(name))


def _nested(file: str, text: str, content: Mapping[str, Any], outer: Config) -> NestedSettings:
    """Return the settings of a nested file, alone and merged with those of the files around it.

    Raises:
        ConfigError: It has invalid settings, or one that only the configuration may have.
    """
    from schemalint.project.config import config_keys  # noqa: PLC0415 (4 ms of a check without settings)

    own = config_keys.validated(file, text, content, outer_consumers=outer.consumers)
    lines = Positions(file, text)
    around = outer.file or "the top of the repository"
    for key in content:
        if key not in (*KEYS, "root"):
            raise ConfigError(
                f"{key} is no setting of a nested file, and {file} is one: it is below {around}",
                help=f"move it to {outer.file or NAME}; or write `root = true`, if the folder is a project "
                "of its own, which is checked with --directory",
                location=lines.locate((key,)),
            )
    for name in own.consumers:
        if name in outer.consumers:
            raise ConfigError(
                f"consumers.{name} is declared already, further up",
                help="remove it here, or give it another name",
                location=lines.locate(("consumers", name)),
            )
    merged = _merged(outer, own, str(PurePosixPath(file).parent))
    if len(merged.tables) > limits.MAX_GLOBS:
        raise ConfigError(
            f"tables has more than {limits.MAX_GLOBS:,} entries with those further up, a limit of schemalint",
            help="use globs that match more",
            location=lines.locate(("tables",)),
        )
    return NestedSettings(file, own, merged, outer, text)


def _merged(outer: Config, own: Config, folder: str) -> Config:
    """Return the settings of a nested file over those around it.

    ``select`` begins anew. Without it, rules are added to those around it, and ``extend-select`` takes a rule
    out of an ``ignore`` around it.
    """
    around = outer
    if own.select is not None:
        around = replace(outer, select=own.select, extend_select=(), ignore=())
    ignored = (pattern for pattern in around.ignore if not is_covered(pattern, own.extend_select))
    return replace(
        around,
        folder=folder,
        nested={},
        extend_select=(*around.extend_select, *own.extend_select),
        ignore=(*ignored, *own.ignore),
        severity={**outer.severity, **own.severity},
        tables=(*outer.tables, *own.tables),
        consumers={**outer.consumers, **own.consumers},
        sources=(*outer.sources, *own.sources),
        consumer_lines={**outer.consumer_lines, **own.consumer_lines},
    )


def location_of(nested: NestedSettings, path: tuple[str, ...], entry: str = "") -> Location:
    """Return the line of a setting of a nested file."""
    return Positions(nested.file, nested.text).locate(path, entry)


def is_covered(pattern: str, patterns: Collection[str]) -> bool:
    """Return whether one of the patterns matches every rule that this one matches."""
    return any(other in ("ALL", pattern) or is_beginning(other, pattern) for other in patterns)


def is_beginning(shorter: str, pattern: str) -> bool:
    """Return whether a pattern is the beginning of a code; the name of a rule has no prefixes."""
    return bool(shorter) and shorter.isupper() and pattern.startswith(shorter)
