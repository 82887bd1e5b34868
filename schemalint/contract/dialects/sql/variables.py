"""What an entry of the configuration puts in place of ``${x}``, ``{x}``, ``{{ x }}`` and ``:x``.

Only variables that the entry names are replaced. Nothing else of Jinja is read: what it makes is not in the
file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.base.document import Span
from schemalint.contract.dialects.sql.lexer import SqlText

_VARIABLE: Final = re.compile(r"\$\{\s*(\w+)\s*\}|\{\{-?\s*(\w+)\s*-?\}\}|\{\s*([^\W\d]\w*)\s*\}")
_JINJA: Final = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|\{#[^{}]*#\}")
_NO_JINJA: Final = "schemalint runs no Jinja: write what it makes, or a variable that the entry names"


class Variables:
    """The values of one entry, as one target has them."""

    def __init__(self, source: SqlText, values: Mapping[str, str]) -> None:
        self._source, self._values = source, values

    def value(self, written: str, span: Span) -> str:
        """Return the value of one variable as it is written.

        Raises:
            ContractError: The entry does not name it.
        """
        name = re.sub(r"[^\w]", "", written)
        if name not in self._values:
            raise self._source.error(
                span, f"{written} has no value", f'name it in the entry: variables = {{{name} = "…"}}'
            )
        return self._values[name]

    def in_name(self, text: str, span: Span) -> str:
        """Return a text that says which table is meant, such as a location, with all variables replaced.

        Raises:
            ContractError: It has a variable that the entry does not name, or other Jinja.
        """
        replaced = _VARIABLE.sub(lambda match: self.value(match[0], span), text)
        self._require_no_jinja(replaced, span)
        return replaced

    def in_value(self, text: str, span: Span) -> str:
        """Return the value of a property with the variables replaced that the entry names.

        Raises:
            ContractError: It has other Jinja.
        """

        def value(match: re.Match[str]) -> str:
            name = next(filter(None, match.groups()))
            return self._values.get(name, match[0])

        self._require_no_jinja(_VARIABLE.sub("", text), span)
        return _VARIABLE.sub(value, text)

    def _require_no_jinja(self, text: str, span: Span) -> None:
        if match := _JINJA.search(text):
            raise self.no_jinja(match[0], span)

    def no_jinja(self, written: str, span: Span) -> Exception:
        """Return the error of Jinja that is no variable."""
        return self._source.error(span, f"{written[:40]} is Jinja", _NO_JINJA)
