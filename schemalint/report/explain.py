"""What a user means: a rule by its code or name, an error class, or a message with its stack trace.

Errors of Delta, Spark and other clients have causes and advice in tables, which only `explain` loads.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from schemalint import clients
from schemalint.base.errors import UsageError
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen
from schemalint.plugin import Rule
from schemalint.review.rulebook import nearest_rules

LEAST_QUOTED = 12
"""Characters that a piece of a quotation needs to identify a message."""

_QUOTATION = re.compile(r'"([^"]+)"')
_GAP = re.compile(r"…|\.\.\.|<[^>]*>")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# An error class as Spark and Delta write it in front of a message: [DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH]
_BRACKETED = re.compile(r"\[([A-Z][A-Z0-9]*_[A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]")
_CLOSEST: Final = 3
_LONGEST_NAME: Final = 200
_TABLE: Final = Path(__file__).with_name("error_classes.toml")
_MESSAGES: Final = Path(clients.__file__).with_name("messages.toml")


@frozen
class NamedError:
    """An error in the user's text.

    Attributes:
        name: The class, with its sub-class if the text has one; for an error without a class, its message.
        advice: What causes the error and what to do; None for a class that schemalint does not know.
        rules: All rules about the error.
    """

    name: str
    advice: ErrorAdvice | None
    rules: tuple[Rule, ...]


@frozen
class Explanation:
    """What there is to say to a user's text.

    Attributes:
        errors: The errors in the text, in its order.
        rules: The rules whose pages explain it: they claim the errors, or the text names or quotes them.
    """

    errors: tuple[NamedError, ...]
    rules: tuple[Rule, ...]


def explain(text: str, rules: tuple[Rule, ...]) -> Explanation:
    """Find what a code, a name, an error class, an error message or a stack trace stands for.

    Raises:
        UsageError: The text has nothing that schemalint knows.
    """
    words = _WORD.findall(text)
    is_word = len(words) == 1
    upper = {word.upper() for word in words}
    rules_named = tuple(rule for rule in rules if {rule.code, rule.name.upper()} & upper)
    if is_word and rules_named:
        return Explanation((), rules_named)
    error_classes = _classes(text, rules, is_word=is_word)
    # A stack trace has many exceptions of Java: they count only if nothing else explains it.
    classes = tuple(filter(str.isupper, error_classes))
    plain = "" if classes else _plain(text)
    quoted = () if classes else _quoted_advice(plain)
    quoting = () if classes or quoted else tuple(rule for rule in rules if _quotes(rule, plain))
    classes = classes or (() if quoted or quoting else error_classes)
    errors = (
        *(_error(name, _find_advice(name), rules) for name in classes),
        *(_error(advice.name, advice, rules) for advice in quoted),
    )
    pages = tuple(rule for rule in rules if any(_claims(rule, error.name) for error in errors))
    pages = pages or (() if errors else quoting or rules_named)
    if not pages and all(error.advice is None for error in errors):
        raise _unknown(classes[0] if classes else text.strip(), rules)
    return Explanation(errors, pages)


def _unknown(what: str, rules: tuple[Rule, ...]) -> UsageError:
    first = without_secrets(what.partition("\n")[0])[:_LONGEST_NAME]
    named = (name for rule in rules for name in (rule.code, rule.name, *rule.delta_errors))
    names = dict.fromkeys((*named, *advice_by_class()))
    word = first.upper() if "_" in first else first
    close = nearest_rules(first, rules) if "_" not in first and " " not in first else []
    close = close or get_close_matches(word, names, n=_CLOSEST, cutoff=0.5)
    return UsageError(
        f"no rule and no known error has the name {first!r}",
        help=f"did you mean {', '.join(close)}?" if close else "`schemalint rules` lists all rules",
    )


def _classes(text: str, rules: tuple[Rule, ...], *, is_word: bool) -> tuple[str, ...]:
    """Return the error classes in a text, in its order: all that are known, and unknown ones in brackets."""
    all_classes = {*advice_by_class(), *(error for rule in rules for error in rule.delta_errors)}
    if is_word:
        text = {name.upper(): name for name in all_classes}.get(text.strip().upper(), text.upper())
    bracketed = set(_BRACKETED.findall(text))
    tokens = (word.strip(".-") for word in _WORD.findall(text))
    names = (token if token.isupper() else token.rpartition(".")[2] for token in tokens)
    return tuple(
        dict.fromkeys(
            name
            for name in names
            if name in all_classes or name.partition(".")[0] in all_classes or name in bracketed
        )
    )


def _quoted_advice(plain: str) -> tuple[ErrorAdvice, ...]:
    """Return the rows that quote the text."""
    return tuple(
        advice for advice in error_advice() if any(_contains(plain, quotation) for quotation in advice.texts)
    )


def _error(name: str, advice: ErrorAdvice | None, rules: tuple[Rule, ...]) -> NamedError:
    codes = advice.rules if advice else ()
    return NamedError(
        name, advice, tuple(rule for rule in rules if rule.code in codes or _claims(rule, name))
    )


def _claims(rule: Rule, error: str) -> bool:
    """Whether a rule is about an error class. A class without a sub-class stands for all of them."""
    main, _, sub_class = error.partition(".")
    claimed = {name if sub_class else name.partition(".")[0] for name in rule.delta_errors}
    return error in claimed or main in claimed


def _quotes(rule: Rule, plain: str) -> bool:
    """Whether the page quotes the message; some Spark errors name no error class in their text.

    One word is no message: pages also quote keys, such as "configuration".
    """
    return any(_contains(plain, quotation) for quotation in _QUOTATION.findall(rule.doc) if " " in quotation)


def _contains(text: str, quotation: str) -> bool:
    pieces = [piece for part in _GAP.split(quotation) if len(piece := _plain(part)) >= LEAST_QUOTED]
    return bool(pieces) and all(piece in text for piece in pieces)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .:").lower()


@frozen
class ErrorAdvice:
    """What schemalint knows about some errors that have the same cause.

    Attributes:
        errors: The error classes; none for the messages of clients that have no classes.
        cause: What causes these errors.
        remedy: What to do; empty if the errors do not concern schemas, and schemalint has no advice.
        rules: Codes of rules about the same cause, beside those that claim one of the classes themselves.
        texts: Messages that say the same without an error class, or pieces of them.
    """

    errors: tuple[str, ...]
    cause: str
    remedy: str = ""
    rules: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first error class, or the first message."""
        return (*self.errors, *self.texts)[0]


@cache
def error_advice() -> tuple[ErrorAdvice, ...]:
    """Return both tables: error classes in their order, then the messages of clients."""
    table = _read(_TABLE)
    elsewhere = (
        ErrorAdvice(tuple(row["errors"]), f"This error is about {_one_line(row['about'])}, not a schema.")
        for row in table["elsewhere"]
    )
    return (*map(_advice, table["known"]), *elsewhere, *map(_advice, _read(_MESSAGES)["message"]))


def _read(table: Path) -> dict[str, Any]:
    return tomllib.loads(table.read_text(encoding="utf-8"))


def _advice(row: Mapping[str, Any]) -> ErrorAdvice:
    return ErrorAdvice(
        tuple(row.get("errors", ())),
        _one_line(row["cause"]),
        _one_line(row["remedy"]),
        tuple(row["rules"]),
        tuple(row.get("texts", ())),
    )


@cache
def advice_by_class() -> Mapping[str, ErrorAdvice]:
    """Return the rows of the table by error class."""
    return {error: advice for advice in error_advice() for error in advice.errors}


def _find_advice(error: str) -> ErrorAdvice | None:
    """Return the row of an error class; that of the main class if it has none for a sub-class."""
    rows = advice_by_class()
    return rows.get(error) or rows.get(error.partition(".")[0])


def _one_line(text: str) -> str:
    return " ".join(text.split())
