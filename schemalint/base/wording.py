"""How the files of a format say what a help asks for: what stands in a SQL file is no key of YAML.

A rule asks for a thing, such as a property with a value, and takes the words from the contract that it
judges. So no rule knows a format, and a new format brings its own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from schemalint.base.values import frozen

# Reports are made without the reader of YAML: `schemalint.base.document` prints more texts without quotes.
_PLAIN: Final = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z_][\w.]*", re.ASCII | re.IGNORECASE
)


@frozen
class Wording:
    """Words of a format; the defaults are those of schemalint's own.

    `str.format` fills the places that a text has. A text is empty where the format has no word for a thing:
    `either` leaves it out then.

    Attributes:
        set_property: Sets a property: ``{key}``, ``{value}``.
        request_feature: Requests the table feature ``{name}``.
        request_too: Requests the features that one of ``{names}`` requires: ``{missing}`` is their list.
        list_features: Where features are requested.
        drop_feature: Drops the table feature ``{name}``.
        allow_upgrade: Allows a protocol upgrade.
        drop_column: Drops the column ``{path}``.
        neither: What a column that is gone is not.
        renamed_from: Says of the column ``{new}``, found by its name, that its old name is ``{old}``.
        declare_rename: Says so of the column at hand.
        keep_deprecated: Keeps a column that will go.
        clustered_by: The word for the clustering.
        partitioned_by: The word for the partitioning.
        declare_constraint: Declares the constraint ``{name}`` with the condition ``{condition}``.
        remove_constraint: Takes the constraint ``{name}`` away from the table.
        remove_property: Takes the property ``{key}`` away from the table.
        fill: Fills the column ``{column}``.
        drop_old: Drops the column ``{column}`` once nobody uses it.
        rewrite: Asks `apply` to write the table anew; empty for none.
        drop_undeclared: Drops a column that only the live table has.
        open_columns: Allows columns that nobody declares.
        open_widening: Allows writers to widen types.
        by_target: Says something for some targets only: ``{which}``.
        default_value: What to write for the default of a property.
        table_comment: The word for the comment of the table.
        location: The word for the location; empty for none.
        owner: The word for the owner; empty for none.
        managed: Says that schemalint alters the table.
        file: What declares the table.
        is_yaml: Whether constraints are written as YAML, as old names and drops are in all formats.
    """

    set_property: str = "set `{key}: {value}` under `properties`"
    request_feature: str = "request the feature: `features: [{name}]`"
    request_too: str = "name it too: `features: [{names}]`"
    list_features: str = "under `features`"
    drop_feature: str = "`drop_features: [{name}]`"
    allow_upgrade: str = "`protocol: {allow_upgrade: true}`"
    drop_column: str = "list it: `dropped: [{path}]`"
    neither: str = "neither renamed nor listed under `dropped`"
    renamed_from: str = "add `renamed_from: {old}` there"
    declare_rename: str = "declare the rename: `renamed_from: {old}`"
    keep_deprecated: str = "keep it as `deprecated`"
    clustered_by: str = "`clustered_by`"
    partitioned_by: str = "`partitioned_by`"
    declare_constraint: str = "`constraints: {{{name}: {condition}}}`"
    remove_constraint: str = "write `{name}: null` under `constraints`"
    remove_property: str = "write `{key}: null` under `properties`"
    fill: str = "fill {column} with `backfill`"
    drop_old: str = "list {column} under dropped"
    rewrite: str = "declare `rewrite`"
    drop_undeclared: str = "list it under `dropped`"
    open_columns: str = "allow it: `open: {columns: true}`"
    open_widening: str = "allow it with `open: {widening: true}`"
    by_target: str = "declare it under `targets`, for the targets {which}"
    default_value: str = "`null` for Delta's default"
    table_comment: str = "the `description` of the table"
    location: str = "the key `location` of the contract"
    owner: str = "the key `owner` of the contract"
    managed: str = "`managed_by: schemalint`"
    file: str = "contract"
    is_yaml: bool = True

    def setting(self, key: str, value: str) -> str:
        """Return how a property gets a value."""
        return self.set_property.format(key=key, value=value)

    def dropping(self, *paths: str) -> str:
        """Return how columns are dropped."""
        return self.drop_column.format(path=", ".join(map(_scalar, paths)))

    def renaming(self, old: str, new: str) -> str:
        """Return how a column that is found by its name says what it was called."""
        return self.renamed_from.format(old=_scalar(old), new=_scalar(new))

    def constraining(self, name: str, condition: str) -> str:
        """Return how a constraint is declared."""
        return self.declare_constraint.format(name=self._written(name), condition=self._written(condition))

    @staticmethod
    def either(*ways: str) -> str:
        """Join the ways that there are: ``keep it, or drop it``."""
        return ", or ".join(filter(None, ways))

    @staticmethod
    def entry(values: Iterable[tuple[str, str]]) -> str:
        """Return keys with their values as YAML, on one line."""
        return f"{{{', '.join(f'{key}: {_scalar(value)}' for key, value in values)}}}"

    def _written(self, text: str) -> str:
        return _scalar(text) if self.is_yaml else text


def _scalar(text: str) -> str:
    """Return a text as a scalar of YAML on one line; double quotes of JSON are those of YAML."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
