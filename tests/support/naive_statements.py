"""What people would try by hand to bring a table to a declaration: statements, from the differences alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from schemalint.delta import change
from schemalint.delta.datatype import Field, Identity, Struct, walk
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.values import replace
from support.contract_pairs import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.delta.change import Change
    from schemalint.delta.path import Path
    from schemalint.model.contract import Contract

Way: TypeAlias = tuple[str, ...]
"""Statements, one after the other; ``{t}`` stands for the table."""

Attempt: TypeAlias = tuple[Way, ...]
"""The ways to one change, the most direct one first; none where SQL has no words for it."""

# In this order, but what is refused is tried again once others are done.
_ORDER: Final = (
    change.PropertyChanged,
    change.FeatureChanged,
    change.FieldRenamed,
    change.FieldRemoved,
    change.FieldAdded,
)


def attempts(changes: Iterable[Change], declared: Contract) -> list[Attempt]:
    """One for each change."""
    found = sorted(changes, key=_place_in_order)
    asked = [key for key in declared.state.set_properties if is_protocol_key(key)]
    drops = (_alter(f"DROP FEATURE {always_quoted(name)}") for name in sorted(declared.drop_features))
    return [
        *(_set(key, str(declared.state.properties[key])) for key in asked if found),
        *(attempt for one in found for attempt in _attempts(one, found)),
        *map(_added, _doubles(declared)),
        *drops,
    ]


def _doubles(declared: Contract) -> Iterator[change.FieldAdded]:
    """The second column of a name, which no difference shows."""
    for path, type_ in walk(declared.state.columns):
        fields = type_.fields if isinstance(type_, Struct) else ()
        for number, one in enumerate(fields):
            if one.name.lower() in {other.name.lower() for other in fields[:number]}:
                yield change.FieldAdded((*path, one.name), one, None)


def _place_in_order(one: Change) -> int:
    if isinstance(one, change.PropertyChanged) and one.new in ("false", "none"):
        return len(_ORDER)
    return next((place for place, kind in enumerate(_ORDER) if isinstance(one, kind)), len(_ORDER))


def _attempts(one: Change, changes: Iterable[Change]) -> Iterator[Attempt]:
    match one:
        case change.PropertyChanged(key=key, new=str(value)):
            yield _set(key, value)
        case change.PropertyChanged(key=key):
            yield _alter(f"UNSET TBLPROPERTIES ({quote_literal(key)})")
        case change.FeatureChanged(name=name, new=True):
            yield _set(f"delta.feature.{name}", "supported")
        case change.DescriptionChanged(new=text):
            yield _set("comment", text if isinstance(text, str) else "")
        case change.FieldAdded():
            yield _added(one)
        case change.FieldRemoved(path=path):
            yield _alter(f"DROP COLUMN {quoted(path)}")
        case change.FieldRenamed(path=path, old_name=old):
            yield from _renamed(path, old, changes)
        case change.ClusteringChanged(new=tuple(keys)):
            yield _alter(f"CLUSTER BY ({', '.join(map(quoted, keys))})" if keys else "CLUSTER BY NONE")
        case change.ConstraintChanged(name=name, old=old, new=new):
            if isinstance(old, str):
                yield _alter(f"DROP CONSTRAINT {always_quoted(name)}")
            if isinstance(new, str):
                yield _alter(f"ADD CONSTRAINT {always_quoted(name)} CHECK ({new})")
        case _:
            action = _action(one)
            yield _alter(f"ALTER COLUMN {quoted(getattr(one, 'path', ()))} {action}") if action else ()


def _action(one: Change) -> str | None:
    """What is done to a column where it is; None where SQL has no words: partitioning, computed columns."""
    match one:
        case change.TypeChanged(new=new):
            return f"TYPE {print_type(new)}"
        case change.NullabilityChanged(new=nullable):
            return f"{'DROP' if nullable else 'SET'} NOT NULL"
        case change.CommentChanged(new=text):
            return f"COMMENT {quote_literal(text if isinstance(text, str) else '')}"
        case change.DefaultChanged(new=str(expression)):
            return f"SET DEFAULT {expression}"
        case change.DefaultChanged():
            return "DROP DEFAULT"
        case _:
            return None


def _added(one: change.FieldAdded) -> Attempt:
    """Whole, or first the column and then what it is to have."""
    place = "FIRST" if one.after is None else f"AFTER {always_quoted(one.after)}"
    plain = replace(one.field, nullable=True, default=None, generated=None, identity=None)
    path = quoted(one.path)
    later = [f"SET DEFAULT {one.field.default}"] if isinstance(one.field.default, str) else []
    later += [] if one.field.nullable else ["SET NOT NULL"]
    whole, alone = (
        f"ALTER TABLE {{t}} ADD COLUMNS ({path} {_definition(each)} {place})" for each in (one.field, plain)
    )
    return (whole,), (alone, *(f"ALTER TABLE {{t}} ALTER COLUMN {path} {text}" for text in later))


def _definition(field: Field) -> str:
    text = print_type(field.type) + ("" if field.nullable else " NOT NULL")
    if isinstance(field.generated, str):
        text += f" GENERATED ALWAYS AS ({field.generated})"
    if isinstance(field.identity, Identity):
        numbers = f"START WITH {field.identity.start} INCREMENT BY {field.identity.step}"
        text += f" GENERATED ALWAYS AS IDENTITY ({numbers})"
    if isinstance(field.default, str):
        text += f" DEFAULT {field.default}"
    return text + (f" COMMENT {quote_literal(field.comment)}" if isinstance(field.comment, str) else "")


def _renamed(path: Path, old: str, changes: Iterable[Change]) -> Iterator[Attempt]:
    """Over a name in between, where two change places."""
    name, before = str(path[-1]), (*path[:-1], old)
    others = [one for one in changes if isinstance(one, change.FieldRenamed) and one.path[:-1] == path[:-1]]
    if name.lower() in {one.old_name.lower() for one in others}:
        between = f"between_{old}"
        yield _alter(f"RENAME COLUMN {quoted(before)} TO {always_quoted(between)}")
        before = (*path[:-1], between)
    yield _alter(f"RENAME COLUMN {quoted(before)} TO {always_quoted(name)}")


def _set(key: str, value: str) -> Attempt:
    return _alter(f"SET TBLPROPERTIES ({quote_literal(key)} = {quote_literal(value)})")


def _alter(action: str) -> Attempt:
    return ((f"ALTER TABLE {{t}} {action}",),)
