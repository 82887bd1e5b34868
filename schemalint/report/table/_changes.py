"""A change in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta import change
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.delta.change import Change

_MOST = 5

# What is said by a word alone: the change of a table's setting, or that of a column.
_NOUNS = {
    change.PartitioningChanged: "partitioning",
    change.ClusteringChanged: "clustering",
    change.DescriptionChanged: "table comment",
    change.CommentChanged: "comment",
    change.DefaultChanged: "default",
    change.GeneratedChanged: "generation",
    change.IdentityChanged: "identity",
}


def describe_changes(changes: Iterable[Change]) -> str:
    """The first few changes, and how many more there are."""
    told = [text for one in changes if (text := _words(one))]
    more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return ", ".join(told[:_MOST]) + more


def _words(one: Change) -> str:
    """Empty for what goes without saying: a type change brings its record."""
    path = getattr(one, "path", ())
    if (noun := _NOUNS.get(type(one))) is not None:
        return f"{noun} of {format_path(path)}" if path else noun
    return _of_column(one, format_path(path)) if path else _of_table(one)


def _of_column(one: Change, column: str) -> str:
    match one:
        case change.FieldAdded(field=field):
            return f"added {column} {print_type(field.type)}"
        case change.FieldRemoved():
            return f"dropped {column}"
        case change.FieldRenamed(path=path, old_name=old):
            return f"renamed {format_path((*path[:-1], old))} to {column}"
        case change.FieldMoved(after=after):
            return f"moved {column} {f'after {format_path((after,))}' if after else 'first'}"
        case change.TypeChanged(old=old, new=new):
            return f"{column} {print_type(old)} -> {print_type(new)}"
        case change.NullabilityChanged(new=new):
            return f"{column} {'may be null' if new else 'not null'}"
        case _:
            return ""


def _of_table(one: Change) -> str:
    match one:
        case change.PropertyChanged(key=key, new=new):
            return f"{key} = {new}" if isinstance(new, str) else f"unset {key}"
        case change.ConstraintChanged(name=name, old=old, new=new):
            verb = "changed" if isinstance(old, str) else "added"
            verb = verb if isinstance(new, str) else "dropped"
            return f"{verb} constraint {name}"
        case change.FeatureChanged(name=name, new=new):
            return f"{'added' if new else 'dropped'} feature {name}"
        case _:
            return ""
