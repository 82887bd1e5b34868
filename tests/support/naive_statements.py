"""Statements that a person would try by hand for each difference between a table and its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.datatype import Field, Identity, Struct, walk
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from support.contract_pairs import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.delta.change import Change
    from schemalint.delta.path import Path
    from schemalint.model.contract import Contract

Statements: TypeAlias = tuple[str, ...]
"""Statements in order; ``{t}`` is replaced by the table."""

Attempt: TypeAlias = tuple[Statements, ...]
"""Alternatives for one change, the most direct first; empty where SQL cannot express the change."""

# Changes are tried in this order; refused ones are tried again after the others.
_ORDER: Final = (
    change.PropertyChanged,
    change.FeatureChanged,
    change.FieldRenamed,
    change.FieldRemoved,
    change.FieldAdded,
)


def attempts(changes: Iterable[Change], declared: Contract) -> list[Attempt]:
    """Return the attempts for all changes, in the order to try them."""
    ordered = sorted(changes, key=_position)
    protocol_keys = [key for key in declared.state.set_properties if is_protocol_key(key)]
    drops = (_alter(f"DROP FEATURE {always_quoted(name)}") for name in sorted(declared.drop_features))
    return [
        *(_set(key, str(declared.state.properties[key])) for key in protocol_keys if ordered),
        *(attempt for change_ in ordered for attempt in _attempts(change_, ordered)),
        *map(_added, _duplicates(declared)),
        *drops,
    ]


def _duplicates(declared: Contract) -> Iterator[change.FieldAdded]:
    """Yield columns whose name an earlier sibling has; the diff does not report them."""
    for path, type_ in walk(declared.state.columns):
        fields = type_.fields if isinstance(type_, Struct) else ()
        for number, field in enumerate(fields):
            if field.name.lower() in {earlier.name.lower() for earlier in fields[:number]}:
                yield change.FieldAdded((*path, field.name), field, None)


def _position(difference: Change) -> int:
    if isinstance(difference, change.PropertyChanged) and difference.new in ("false", "none"):
        return len(_ORDER)
    return next((number for number, kind in enumerate(_ORDER) if isinstance(difference, kind)), len(_ORDER))


def _attempts(difference: Change, changes: Iterable[Change]) -> Iterator[Attempt]:
    match difference:
        case change.PropertyChanged(key=key, new=str(value)):
            yield _set(key, value)
        case change.PropertyChanged(key=key):
            yield _alter(f"UNSET TBLPROPERTIES ({quote_literal(key)})")
        case change.FeatureChanged(name=name, new=True):
            yield _set(f"delta.feature.{name}", "supported")
        case change.DescriptionChanged(new=text):
            yield _set("comment", text if isinstance(text, str) else "")
        case change.FieldAdded():
            yield _added(difference)
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
            action = _action(difference)
            column = quoted(getattr(difference, "path", ()))
            yield _alter(f"ALTER COLUMN {column} {action}") if action else ()


def _action(difference: Change) -> str | None:
    """Return the ALTER COLUMN action; None where SQL has none: partitioning, computed columns."""
    match difference:
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


def _added(addition: change.FieldAdded) -> Attempt:
    """Return two alternatives: one complete ADD COLUMNS, or a plain one followed by ALTER COLUMN."""
    position = "FIRST" if addition.after is None else f"AFTER {always_quoted(addition.after)}"
    field = addition.field
    plain_field = replace(field, nullable=True, default=None, generated=None, identity=None)
    path = quoted(addition.path)
    later = [f"SET DEFAULT {field.default}"] if isinstance(field.default, str) else []
    later += [] if field.nullable else ["SET NOT NULL"]
    complete, plain = (
        f"ALTER TABLE {{t}} ADD COLUMNS ({path} {_definition(version)} {position})"
        for version in (field, plain_field)
    )
    return (complete,), (plain, *(f"ALTER TABLE {{t}} ALTER COLUMN {path} {text}" for text in later))


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
    """Yield the renames; columns that swap names use a temporary name."""
    name, before = str(path[-1]), (*path[:-1], old)
    renames = [
        each for each in changes if isinstance(each, change.FieldRenamed) and each.path[:-1] == path[:-1]
    ]
    if name.lower() in {rename.old_name.lower() for rename in renames}:
        temporary = f"between_{old}"
        yield _alter(f"RENAME COLUMN {quoted(before)} TO {always_quoted(temporary)}")
        before = (*path[:-1], temporary)
    yield _alter(f"RENAME COLUMN {quoted(before)} TO {always_quoted(name)}")


def _set(key: str, value: str) -> Attempt:
    return _alter(f"SET TBLPROPERTIES ({quote_literal(key)} = {quote_literal(value)})")


def _alter(action: str) -> Attempt:
    return ((f"ALTER TABLE {{t}} {action}",),)
