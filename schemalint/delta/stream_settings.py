"""The settings that let one stream pass changes that stop it.

A setting for one stream contains a hash of its source's metadata path, ``<checkpoint>/sources/<n>``, as the
stream's Spark spells it (DeltaSourceMetadataEvolutionSupport.getCheckpointHash; measured on Delta 4.4.0).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from schemalint.base.values import frozen

if TYPE_CHECKING:
    from schemalint.delta.streams import Blocking

ALWAYS: Final = "always"
"""The value that allows a kind of change at every version."""

_PREFIX: Final = "spark.databricks.delta.streaming."
_URI: Final = r"(?s)(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://(?P<authority>[^/]*))?(?P<path>/.*)"
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
    options = reader_options(kinds, version)
    return tuple(
        StreamSettings(
            path.partition(":")[0],
            path,
            {f"{_PREFIX}{option}.ckpt_{java_hash(path)}": value for option, value in options.items()},
        )
        for path in metadata_paths(checkpoint, source, scheme)
    )


def reader_options(kinds: Iterable[Blocking], version: int | None = None) -> Mapping[str, str]:
    """Return the options of ``readStream`` that do the same as `settings`, for whatever checkpoint."""
    from schemalint.delta.streams import Blocking  # noqa: PLC0415 (rules load this module in every check)

    needed, value = set(kinds), ALWAYS if version is None else str(version)
    return {kind.option: value for kind in Blocking if kind in needed}


def metadata_paths(checkpoint: str, source: int = 0, scheme: str | None = None) -> tuple[str, ...]:
    """Return the metadata paths that a source can have, one for each spelling of the checkpoint.

    Hadoop drops empty segments, ``.`` and ``..``; it decodes no percent signs and follows no links (measured
    on Delta 4.4.0). A path of a Unity Catalog volume is in ``dbfs:``, any other one in ``file:``.
    """
    qualified = _qualified(checkpoint)
    if qualified is None:
        return ()
    own_scheme, authority, folder = qualified
    schemes = (scheme,) if scheme else _spellings(own_scheme)
    if not authority and not all(prefix.lower() in _WITHOUT_AUTHORITY for prefix in schemes):
        return ()  # the stream's Spark fills in the authority of its default file system
    roots = (f"{prefix}://{authority}{folder}" if authority else f"{prefix}:{folder}" for prefix in schemes)
    return tuple(f"{root}/sources/{source}" for root in roots)


def folder_below(checkpoint: str, location: str) -> str | None:
    """Return a tracking location relative to the checkpoint; empty for the checkpoint itself.

    None if it is elsewhere: Delta refuses that, with DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT. It
    follows no links, and a relative location is not below an absolute checkpoint (measured on Delta 4.4.0).
    """
    outer, inner = _qualified(checkpoint), _qualified(location)
    if outer is None or inner is None:
        if outer is not None or inner is not None:
            return None
        outer, inner = (("file", "", posixpath.normpath(f"/{text}")) for text in (checkpoint, location))
    same_store = inner[0].lower() in map(str.lower, _spellings(outer[0]))
    root, folder = outer[2].rstrip("/"), inner[2]
    if not same_store or outer[1] != inner[1] or not f"{folder}/".startswith(f"{root}/"):
        return None
    return folder[len(root) :].strip("/")


def location_key(location: str) -> object:
    """Return a value that two locations of queries share if they are one folder, however they are written."""
    qualified = _qualified(location)
    if qualified is None:
        return posixpath.normpath(location)
    scheme, authority, folder = qualified
    return min(name.lower() for name in _spellings(scheme)), authority, folder


def is_absolute(location: str) -> bool:
    """Whether a location does not depend on the folder that a query runs in."""
    return _qualified(location) is not None


def local_path(location: str) -> str | None:
    """Return the path of a location in the file system, as Hadoop takes it; None for any other one.

    Hadoop decodes no percent signs, neither in a path nor in a ``file:`` URI.
    """
    if location.startswith("/"):
        return posixpath.normpath("/" + location.lstrip("/"))
    qualified = _qualified(location)
    if qualified is not None and qualified[0].lower() == "file":
        return qualified[2]
    return None


def java_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: signed, of 32 bits, over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    hash_ = 0
    for index in range(0, len(units), 2):
        hash_ = (31 * hash_ + (units[index] << 8) + units[index + 1]) & 0xFFFFFFFF
    if hash_ >> 31:
        return hash_ - (1 << 32)
    return hash_


def _spellings(scheme: str) -> tuple[str, ...]:
    family = next((family for family in _FAMILIES if scheme.lower() in family), ())
    return (scheme, *(other for other in family if other != scheme.lower()))


def _qualified(location: str) -> tuple[str, str, str] | None:
    """Return scheme, authority and normalized path of a location; None if it is relative."""
    if match := re.fullmatch(_URI, location):
        scheme, authority, path = match["scheme"], match["authority"] or "", match["path"]
    elif location.startswith("/"):
        scheme = "dbfs" if location.startswith("/Volumes/") else "file"
        authority, path = "", location
    else:
        return None
    if scheme.lower() in _WITHOUT_AUTHORITY:
        authority = ""
    return scheme, authority, posixpath.normpath("/" + path.lstrip("/"))
