"""Changes in a few words, for the history of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from schemalint.delta import change
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.delta.change import Change

_MOST: Final = 5
"""Changes of one commit that are spelled out."""


def describe_changes(changes: Iterable[Change]) -> str:
    """Return the first few changes, and how many more there are."""
    texts = [text for each in changes if (text := _describe(each))]
    more = f" and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return ", ".join(texts[:_MOST]) + more


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
            return f"{key} = {new}" if isinstance(new, str) else f"unset {key}"
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
