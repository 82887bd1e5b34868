"""The public API for rules.

A rule is a function over one fact: the engine finds and pairs the objects, a rule judges one of them.

    @rule("ACME001", on=FieldAdded, severity=Severity.WARNING)
    def column_without_comment(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
        \"\"\"A new column has no comment. …\"\"\"
        if not isinstance(change.field.comment, str):
            yield Problem(f"column {dotted(change.path)} has no comment")

A package of rules names its module (or package, which is walked) in the entry-point group
``schemalint.rules``. Nothing else of schemalint is public.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

from schemalint.delta.change import FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.datatype import VOID
from schemalint.delta.path import Path, path_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.model.contract import Contract
from schemalint.model.fact import (
    Drift,
    DriftKind,
    DuplicateTable,
    Fact,
    LiveTableMissing,
    LiveTableReplaced,
    ProtocolUpgrade,
    TableRetired,
)
from schemalint.model.finding import Fix, ObjectRef, RecordTypeChanges, SetProperty, Severity
from schemalint.values import field, frozen

__all__ = [
    "Contract",
    "Drift",
    "DriftKind",
    "DuplicateTable",
    "Fact",
    "Fix",
    "LiveTableMissing",
    "LiveTableReplaced",
    "ObjectRef",
    "OptionValue",
    "Problem",
    "ProtocolUpgrade",
    "RecordTypeChanges",
    "Rule",
    "RuleContext",
    "Scope",
    "SetProperty",
    "Severity",
    "Status",
    "TableRetired",
    "rule",
]

OptionValue: TypeAlias = str | int | float | bool
"""The value of a rule's option."""

Status = Literal["stable", "preview"]

Scope = Literal["table", "contract"]
"""Whether a rule judges what becomes of the table, or how the contract keeps its own records."""


@frozen
class Problem:
    """What a rule has to say.

    Attributes:
        message: One sentence, without the name of the table.
        help: The compatible way to get what is wanted.
        severity: Where it differs from the rule's own.
        path: The column, where it is not the fact's own; `object` likewise.
        part: What of the column's text it is about, where the fact does not tell: ``default``, ``type``.
        old: The value before, as text, where it is not the fact's own; `new` the declared one.
        delta_error: The error class that Delta gives, measured; None if Delta refuses nothing here.
    """

    message: str
    help: str = ""
    severity: Severity | None = None
    path: Path | None = None
    object: ObjectRef | None = None
    part: str | None = None
    old: str | None = None
    new: str | None = None
    delta_error: str | None = None
    fix: Fix | None = None


@frozen
class RuleContext:
    """What a rule may know besides its fact.

    Attributes:
        contract: The declared table, effective for the target.
        before: The table that the declaration is compared with: as declared at the base, or live.
        after: The table once the declaration is applied: `before`, with what is declared laid over it.
        features: What the table before supports.
        base: The contract at the base, if there is one.
        live: The live table, if it was read.
        against: ``git`` or ``live``.
        options: The options of the rule that is asked.
        today: The day of the judgement, in UTC.
    """

    contract: Contract
    before: TableState
    after: TableState
    features: frozenset[str]
    base: Contract | None = None
    live: LiveTable | None = None
    against: Literal["git", "live"] = "git"
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    today: dt.date = field(default_factory=lambda: dt.datetime.now(tz=dt.UTC).date())

    @property
    def column_mapping(self) -> str:
        """The declared mode, or the one that the table has: ``none``, ``name`` or ``id``."""
        return (self.after.properties.get("delta.columnMapping.mode") or "none").casefold()

    @property
    def is_new_table(self) -> bool:
        """Whether the table is still to be created, as far as it is known."""
        return self.base is None and self.live is None

    @property
    def widening_enabled(self) -> bool:
        """Whether types can be widened: by a property that goes off in the same edit too, only first."""
        return any(state.enabled("delta.enableTypeWidening") for state in (self.before, self.after))

    def alters(self, change: TypeChanged | FieldRenamed | FieldRemoved) -> bool:
        """Whether Delta would alter the column, were it not for what depends on it.

        So it is not where another rule forbids the change already, where a drop is not declared, and where
        what Delta stores stays as it is: for a ``varchar`` that grows that is ``string`` before and after.
        """
        match change:
            case TypeChanged(path=path, old=old, new=new):
                verdict = classify(old, new, nested=len(path) > 1)
                if verdict == TypeVerdict.FREE:
                    return old == VOID
                return verdict == TypeVerdict.WIDENING and self.widening_enabled
            case FieldRenamed():
                return self.column_mapping != "none"
            case FieldRemoved(path=path):
                listed = {path_key(entry.path) for entry in self.contract.state.dropped}
                return self.column_mapping != "none" and path_key(path) in listed


Check = Callable[[Any, RuleContext], Iterable[Problem]]
CheckT = TypeVar("CheckT", bound=Callable[..., Iterable[Problem]])


@frozen
class Rule:
    """A rule: its data, and its one function.

    Attributes:
        subjects: The kinds of fact that it judges.
        name: Its function's name in kebab case.
        doc: Its docstring, which is its page of documentation.
        module: Where it is defined.
        distribution: The installed package that it comes from, set when it is found.
        options: Their values, by name: the user's, or the rule's own.
        severity_is_set: Whether the user's configuration chose the severity: then no problem has another.
    """

    code: str
    name: str
    severity: Severity
    subjects: tuple[type, ...]
    check: Check
    doc: str
    module: str
    status: Status = "stable"
    scope: Scope = "table"
    fixable: bool = False
    delta_errors: tuple[str, ...] = ()
    distribution: str = ""
    severity_is_set: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first sentence of the page."""
        return self.doc.partition("\n")[0]


ATTRIBUTE = "schemalint_rule"
_CODE = re.compile(r"[A-Z]{2,10}\d{3}")


def rule(
    code: str,
    *,
    on: type | tuple[type, ...],
    severity: Severity,
    status: Status = "stable",
    scope: Scope = "table",
    fixable: bool = False,
    delta_errors: tuple[str, ...] = (),
    options: Mapping[str, OptionValue] | None = None,
) -> Callable[[CheckT], CheckT]:
    """Make a function a rule.

    Args:
        code: Capital letters and three digits, never used for another rule.
        on: The kind of fact it judges, or several.
        severity: Its usual severity.
        status: ``preview`` rules run only when asked for.
        scope: ``contract`` for a rule about the contract's own records: it is asked about git's changes,
            also where the live table has them already.
        fixable: Whether its problems can come with a fix.
        delta_errors: The error classes of Delta that it foresees.
        options: What users may set under ``[options.CODE]``, each with the value it has if they do not.

    Raises:
        ValueError: The code is malformed, or the function has no docstring.
    """
    if not _CODE.fullmatch(code):
        raise ValueError(f"{code!r} is no code of a rule: two or more capital letters and three digits")

    def made(check: CheckT) -> CheckT:
        doc = _page(check)
        made_rule = Rule(
            code=code,
            name=check.__name__.replace("_", "-"),
            severity=severity,
            subjects=on if isinstance(on, tuple) else (on,),
            check=check,
            doc=doc,
            module=check.__module__,
            status=status,
            scope=scope,
            fixable=fixable,
            delta_errors=delta_errors,
            options=MappingProxyType(dict(options or {})),
        )
        setattr(check, ATTRIBUTE, made_rule)
        return check

    return made


def _page(check: Callable[..., object]) -> str:
    if not check.__doc__:
        raise ValueError(f"the rule {check.__name__} has no docstring: it is its page of documentation")
    first, _, rest = check.__doc__.strip().partition("\n")
    lines = rest.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    indent = min(indents, default=0)
    return "\n".join([first, *(line[indent:].rstrip() for line in lines)]).strip() + "\n"
