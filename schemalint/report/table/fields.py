"""The fields of a schema and the changes of a table in a few words, as texts and pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from schemalint.base.phrases import first_of
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import Array, DataType, Field, Identity, Map, Struct, parts
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.report.text_helpers import shortened

_MOST: Final = 5
"""Changes of one commit that are spelled out."""


def fields_of(type_: DataType, path: Path) -> Iterator[tuple[Path, Field]]:
    """Yield every field with its path, parents first; paths contain the parts of arrays and maps."""
    if isinstance(type_, Struct):
        for field in type_.fields:
            yield (*path, field.name), field
            yield from fields_of(field.type, (*path, field.name))
    for part, inner in parts(type_):
        yield from fields_of(inner, (*path, part))


def field_label(path: Path) -> str:
    """Return the name of a field, indented by its depth."""
    pieces = split_by_field(path)
    return "  " * (len(pieces) - 1) + format_path(pieces[-1])


def split_by_field(path: Path) -> list[Path]:
    """Split a path after each field name: ``lines``, ``element.sku``."""
    pieces: list[Path] = []
    start = 0
    for index, step in enumerate(path):
        if isinstance(step, str):
            pieces.append(path[start : index + 1])
            start = index + 1
    return pieces


def type_text(type_: DataType) -> str:
    """Print a type without the fields of structs, which have their own rows."""
    match type_:
        case Struct():
            return "struct"
        case Array(element=element):
            return f"array<{type_text(element)}>"
        case Map(key=key, value=value):
            return f"map<{type_text(key)}, {type_text(value)}>"
        case _:
            return print_type(type_)


def field_notes(field: Field) -> str:
    """Return what a contract says of a field besides its type."""
    notes = [] if field.nullable else ["not null"]
    notes += [f"{part} not null" for part in _not_null_parts(field.type)]
    if isinstance(field.default, str):
        notes.append(f"default {field.default}")
    if isinstance(field.generated, str):
        notes.append(f"generated as {field.generated}")
    if isinstance(field.identity, Identity):
        notes.append(
            f"identity {field.identity.kind.lower()} ({field.identity.start}, {field.identity.step})"
        )
    if isinstance(field.comment, str) and field.comment:
        notes.append(f'"{shortened(field.comment)}"')
    return ", ".join(notes)


def _not_null_parts(type_: DataType) -> Iterator[str]:
    match type_:
        case Array(contains_null=False):
            yield "elements"
        case Map(value_contains_null=False):
            yield "values"
        case _:
            pass


def describe_changes(changes: Iterable[Change]) -> str:
    """Return the first few changes, and how many more there are."""
    texts = [text for each in changes if (text := _describe(each))]
    return first_of(texts, _MOST)


def _describe(each: Change) -> str:  # noqa: C901, PLR0911, PLR0912 (a wording per kind)
    """Return the words for a change; empty for one that comes with another."""
    match each:
        case change.FieldAdded(path=path, field=field):
            return f"added {format_path(path)} {print_type(field.type)}"
        case change.FieldRemoved(path=path):
            return f"dropped {format_path(path)}"
        case change.FieldRenamed(path=path, old_name=old):
            return f"renamed {format_path((*path[:-1], old))} to {format_path(path)}"
        case change.FieldMoved(path=path, after=after):
            return f"moved {format_path(path)} {f'after {format_path((after,))}' if after else 'first'}"
        case change.TypeChanged(path=path, old=old, new=new):
            return f"{format_path(path)} {print_type(old)} -> {print_type(new)}"
        case change.NullabilityChanged(path=path, new=new):
            return f"{format_path(path)} {'may be null' if new else 'not null'}"
        case change.CommentChanged(path=path):
            return f"comment of {format_path(path)}"
        case change.DefaultChanged(path=path):
            return f"default of {format_path(path)}"
        case change.GeneratedChanged(path=path):
            return f"generation of {format_path(path)}"
        case change.IdentityChanged(path=path):
            return f"identity of {format_path(path)}"
        case change.DescriptionChanged():
            return "table comment"
        case change.PartitioningChanged():
            return "partitioning"
        case change.ClusteringChanged():
            return "clustering"
        case change.PropertyChanged(key=key, new=new):
            if isinstance(new, str):
                return f"{key} = {new}"
            return f"unset {key}"
        case change.ConstraintChanged(name=name, old=old, new=new):
            verb = "changed" if isinstance(old, str) else "added"
            return f"{verb if isinstance(new, str) else 'dropped'} constraint {name}"
        case change.FeatureChanged(name=name, new=new):
            return f"{'added' if new else 'dropped'} feature {name}"
        case (
            change.TypeHistoryChanged()  # comes with its type change
            | change.TableAdded()
            | change.TableRemoved()
            | change.DeletionListed()
            | change.DeletionUnlisted()
        ):
            return ""
        case _:
            assert_never(each)
