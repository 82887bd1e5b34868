"""The settings that let one stream pass changes that stop it.

A setting for one stream contains a hash of its source's metadata path, ``<checkpoint>/sources/<n>``, as the
stream's Spark spells it (DeltaSourceMetadataEvolutionSupport.getCheckpointHash; measured on Delta 4.4.0).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Final

from schemalint.delta.streams import Blocking
from schemalint.values import frozen

ALWAYS: Final = "always"
"""The value that allows a kind of change at every version."""

_PREFIX: Final = "spark.databricks.delta.streaming."
_URI: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://(?P<authority>[^/]*))?(?P<path>/.*)", re.DOTALL
)
_FAMILIES: Final = (("s3", "s3a"), ("abfss", "abfs"))
"""Schemes for the same store; the stream's Spark decides which one it uses."""

_WITHOUT_AUTHORITY: Final = ("file", "dbfs")


@frozen
class StreamSettings:
    """The settings of one stream, for one spelling of its checkpoint.

    Attributes:
        scheme: The scheme in that spelling, such as ``s3a``.
        path: The metadata path of the source.
        conf: The value by Spark setting.
    """

    scheme: str
    path: str
    conf: Mapping[str, str]


def settings(
    checkpoint: str,
    kinds: Iterable[Blocking],
    version: int | None = None,
    *,
    source: int = 0,
    scheme: str | None = None,
) -> tuple[StreamSettings, ...]:
    """Return the Spark settings that let one stream pass changes.

    Args:
        checkpoint: The stream's ``checkpointLocation``.
        kinds: The kinds of the changes.
        version: The table's version after the last change; None allows the kinds at every version.
        source: The index of the table among the stream's sources.
        scheme: The checkpoint's scheme in the stream's Spark; None if it is not known.

    Returns:
        One value for each way in which the stream's Spark may spell the checkpoint; settings for the wrong
        one have no effect. Empty if the checkpoint depends on the stream's working folder.
    """
    wanted = set(kinds)
    value = ALWAYS if version is None else str(version)
    return tuple(
        StreamSettings(
            path.partition(":")[0],
            path,
            {f"{_PREFIX}{kind.option}.ckpt_{java_hash(path)}": value for kind in Blocking if kind in wanted},
        )
        for path in metadata_paths(checkpoint, source, scheme)
    )


def reader_options(kinds: Iterable[Blocking], version: int | None = None) -> Mapping[str, str]:
    """Return the options of ``readStream`` that do the same as `settings`, for whatever checkpoint."""
    wanted = set(kinds)
    return {kind.option: ALWAYS if version is None else str(version) for kind in Blocking if kind in wanted}


def metadata_paths(checkpoint: str, source: int = 0, scheme: str | None = None) -> tuple[str, ...]:
    """Return the metadata paths that a source can have, one for each spelling of the checkpoint.

    Hadoop drops empty segments, ``.`` and ``..``; it decodes no percent signs and follows no links (measured
    on Delta 4.4.0). A path of a Unity Catalog volume is in ``dbfs:``, any other one in ``file:``.
    """
    match = _URI.fullmatch(checkpoint)
    if match:
        written, authority, path = match["scheme"], match["authority"] or "", match["path"]
    elif checkpoint.startswith("/"):
        written = "dbfs" if checkpoint.startswith("/Volumes/") else "file"
        authority, path = "", checkpoint
    else:
        return ()
    if written.lower() in _WITHOUT_AUTHORITY:
        authority = ""
    folder = posixpath.normpath("/" + path.lstrip("/"))
    schemes = (scheme,) if scheme else _spellings(written)
    if not authority and not all(known.lower() in _WITHOUT_AUTHORITY for known in schemes):
        return ()  # the stream's Spark fills in the authority of its default file system
    roots = (f"{known}://{authority}{folder}" if authority else f"{known}:{folder}" for known in schemes)
    return tuple(f"{root}/sources/{source}" for root in roots)


def java_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: signed, of 32 bits, over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    hash_ = 0
    for index in range(0, len(units), 2):
        hash_ = (31 * hash_ + (units[index] << 8) + units[index + 1]) & 0xFFFFFFFF
    return hash_ - (1 << 32) if hash_ >> 31 else hash_


def _spellings(scheme: str) -> tuple[str, ...]:
    family = next((family for family in _FAMILIES if scheme.lower() in family), ())
    return (scheme, *(other for other in family if other != scheme.lower()))
