"""What a checkout of Delta knows and schemalint's tables do not: ``python -m engine.checkout FOLDER``.

The names are searched for in the text of the files that define them. What a release brings is then one line
here, instead of a day of reading.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from schemalint import report
from schemalint.delta.feature import FEATURES, OTHER_NAMES
from schemalint.delta.properties import OF_KERNEL, PROPERTIES
from schemalint.delta.type_json import type_of_name

_TABLE_ROW: Final = re.compile(r"^(?:\[[^\]]*\]\([^)]*\)|[^|]*)\|\s*`(\w[\w-]*)`\s*\|", re.MULTILINE)
_PROPOSED: Final = re.compile(r"(?:feature|Feature)s?(?: name| named)? `([a-z]\w+)`")
_TYPE_ROW: Final = re.compile(r"^([a-z_]+)\s*\|", re.MULTILINE)


def features(folder: Path) -> Iterator[str]:
    """Yield the names of table features, of Delta Spark, Delta Kernel, the protocol, and proposals."""
    for path in _named(folder, "TableFeature.scala"):
        yield from re.findall(
            r"(?:WriterFeature|ReaderWriterFeature)\(\s*(?:name = )?\"([\w-]+)\"", _text(path)
        )
    for path in _named(folder, "TableFeatures.java"):
        yield from re.findall(r"super\(\s*(?:/\* featureName = \*/ )?\"([\w-]+)\"", _text(path))
    for path in _named(folder, "PROTOCOL.md"):
        yield from _TABLE_ROW.findall(_section(_text(path), "## Valid Feature Names in Table Features"))
    for path in sorted(folder.glob("protocol_rfcs/*.md")):
        yield from _PROPOSED.findall(_text(path))


def types(folder: Path) -> Iterator[str]:
    """Yield the names of primitive types in the protocol."""
    for path in _named(folder, "PROTOCOL.md"):
        yield from _TYPE_ROW.findall(_section(_text(path), "### Primitive Types"))


def properties(folder: Path) -> Iterator[str]:
    """Yield the keys of table properties, of Delta Spark and of Delta Kernel."""
    for path in _named(folder, "DeltaConfig.scala"):
        for key in re.findall(r"buildConfig\[[^=]*?\]\(\s*\"([\w.-]+)\"", _text(path)):
            yield f"delta.{key}"
    for path in _named(folder, "TableConfig.java"):
        yield from re.findall(r"\"(delta\.[\w.-]+)\"", _text(path))


def errors(folder: Path) -> Iterator[str]:
    """Yield the error classes of Delta Spark."""
    for path in _named(folder, "delta-error-classes.json"):
        yield from json.loads(_text(path))


def explained() -> frozenset[str]:
    """Return the error classes that `explain` has a row for."""
    text = (Path(report.__file__).parent / "error_classes.toml").read_text("utf-8")
    rows = tomllib.loads(text)
    return frozenset(
        error for kind in ("known", "elsewhere") for row in rows[kind] for error in row["errors"]
    )


def lacking(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the names that a checkout has and schemalint's tables do not, by kind."""
    known: Mapping[str, tuple[Callable[[Path], Iterator[str]], Callable[[str], bool]]] = {
        "features": (features, {*FEATURES, *OTHER_NAMES}.__contains__),
        "types": (types, lambda name: name == "decimal" or type_of_name(name) is not None),
        "properties": (properties, {*PROPERTIES, *OF_KERNEL}.__contains__),
        "error classes": (errors, explained().__contains__),
    }
    found = {kind: sorted({*names(folder)}) for kind, (names, _is_known) in known.items()}
    for kind, names in found.items():
        if not names:
            raise SystemExit(f"{folder} has no {kind}: is it a checkout of Delta?")
    return {
        kind: tuple(name for name in found[kind] if not (is_known(name) or name.lower().startswith("test")))
        for kind, (_names, is_known) in known.items()
    }


def _named(folder: Path, name: str) -> list[Path]:
    return sorted(path for path in folder.rglob(name) if "test" not in path.parts)


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _section(text: str, title: str) -> str:
    """Return the text from a title to the next one."""
    _, _, rest = text.partition(f"\n{title}\n")
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


if __name__ == "__main__":
    for kind_, names_ in lacking(Path(sys.argv[1])).items():
        sys.stdout.write(f"{kind_}: {', '.join(names_) or 'none lacks'}\n")
