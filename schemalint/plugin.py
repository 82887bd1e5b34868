"""The public API for rule authors, together with the modules of `schemalint.delta`.

schemalint compares two states of a table and collects facts: changes, drift, protocol upgrades and others. A
rule is a function that judges one fact and yields a `Problem` for each objection:

    from collections.abc import Iterator

    from schemalint.delta.change import FieldAdded
    from schemalint.delta.path import format_path
    from schemalint.plugin import Problem, RuleContext, Severity, rule

    @rule("ACME001", on=FieldAdded, severity=Severity.WARNING)
    def column_without_comment(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
        \"\"\"A new column has no comment. …\"\"\"
        if not isinstance(change.field.comment, str):
            yield Problem(f"column {format_path(change.path)} has no comment")

A rule package registers its module in the entry-point group ``schemalint.rules``; if it registers a package,
schemalint loads all modules in it. All modules of schemalint outside `schemalint.plugin` and
`schemalint.delta` are private.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from schemalint.base.phrases import affixed
from schemalint.base.values import Itself, field, frozen, grouped, replace
from schemalint.base.wording import Wording
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    PartitioningChanged,
    TableAdded,
    TypeChanged,
)
from schemalint.delta.datatype import VOID, Field, Struct, type_at, walk
from schemalint.delta.diff import diff
from schemalint.delta.edit import Edit
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import Answer
from schemalint.delta.expressions import Expression, expressions_of
from schemalint.delta.feature_drop import DropRequests
from schemalint.delta.lengths import columns_with_lengths, shifted_structs
from schemalint.delta.path import Path, PathIndex, lowercased, path_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import alters_stored_type
from schemalint.model import rule_option as option
from schemalint.model.client import SupportLost, SupportUnknown
from schemalint.model.consumer import Consumer, Stream, united
from schemalint.model.contract import Contract
from schemalint.model.contract_edit import Fix, RecordTypeChanges, SetProperty
from schemalint.model.effective import Effective
from schemalint.model.fact import (
    AffectedStreams,
    ConfigurationChanged,
    Drift,
    DriftKind,
    DuplicateTable,
    Fact,
    JudgedException,
    LiveTableMissing,
    ProtocolUpgrade,
    RootWithoutTables,
    TableRetired,
    WritersLost,
)
from schemalint.model.finding import ObjectRef, Severity
from schemalint.model.marker import OWN_PROPERTIES
from schemalint.model.option_value import OptionValue
from schemalint.model.rule_option import Option

__all__ = [
    "OWN_PROPERTIES",
    "AffectedStreams",
    "ConfigurationChanged",
    "Consumer",
    "Contract",
    "Drift",
    "DriftKind",
    "DuplicateTable",
    "Fact",
    "Fix",
    "JudgedException",
    "LiveTableMissing",
    "ObjectRef",
    "OptionValue",
    "Problem",
    "ProtocolUpgrade",
    "RecordTypeChanges",
    "RootWithoutTables",
    "Rule",
    "RuleContext",
    "Scope",
    "SetProperty",
    "Severity",
    "Stream",
    "SupportLost",
    "SupportUnknown",
    "TableRetired",
    "WritersLost",
    "option",
    "replace",
    "rule",
]

Scope = Literal["table", "contract", "effect", "policy"]
"""``table`` rules judge whether the table can be as declared, ``contract`` rules the contract's own records,
and ``effect`` rules what a change does to readers and writers. These two are silent about a change that a
``table`` rule refuses: it needs no record and has no effect. ``policy`` rules judge what a team wants: Delta
accepts what they find, so `plan` and `apply` do not ask them."""

Tables = Literal["altered", "rebuilt", "any"]
"""The tables whose changes a rule judges: those that are altered in place, those that another tool builds
anew (``managed_by: {tool: dbt, how: replace}``), or both. About a state it judges all tables."""

Verdict = Literal["impossible", "breaking"]
"""What an error of a rule says: Delta cannot do it in place, or it can, and breaks a promise. An exception
(``allow``) lets a ``breaking`` change pass; an ``impossible`` one needs a way out too (``via: rewrite``)."""


@frozen
class Problem:
    """A rule's objection to a fact; schemalint turns it into a finding.

    `path`, `object`, `part`, `old` and `new` default to those of the fact.

    Attributes:
        message: One sentence, without the table name.
        help: How to reach the same goal compatibly; may be empty.
        severity: The severity, if it differs from the rule's.
        path: The field that the problem is about.
        object: The object that the problem is about, if it is not a field: a property, a constraint, …
        part: The key of the column's entry in the contract that the problem is about: ``default``, ``type``.
        old: The value before the change, as text.
        new: The declared value, as text.
        delta_error: Error class that Delta raises, as measured on Delta 4.4.0; None if Delta raises none.
        unreadable: Whether clients cannot even read the live table that the problem is about: Delta Spark if
            there is a `delta_error`, else others. Without it, a `delta_error` of a live table says that Delta
            Spark cannot write or alter the table (measured on Delta 4.4.0).
        fix: An edit of the contract that solves the problem.
        remedy: Return the declared state with everything that the help asks for. schemalint judges it too,
            and adds to the help what else the edit then needs; of many such findings, it asks only the first.
        is_mended: Whether the contract changes what is wrong with a live table: then it is a warning, and
            Delta raises no error any more.
        is_past: Whether only the history of the live table has it, which few runs read.
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
    unreadable: bool = False
    fix: Fix | None = None
    remedy: Callable[[], TableState] | None = None
    is_mended: bool = False
    is_past: bool = False


@frozen
class RuleContext:
    """The context of a fact: the contract and the states of its table.

    Attributes:
        contract: The contract with the overrides of the deployment target applied.
        before: The table before the change: as the base contract declares it, or the live table.
        after: The table with the contract applied: `before`, overridden by every declared value.
        features: The names of the table features that the table supports before the change.
        base: The contract at the merge base, if there is one.
        live: The live table, if schemalint read it.
        against: What `before` is: ``git`` for the base contract, ``live`` for the live table.
        options: The values of the running rule's options, by name: see `value_of`.
        today: The date of the run, in UTC.
    """

    contract: Effective
    before: TableState
    after: TableState
    features: frozenset[str]
    base: Effective | None = None
    live: LiveTable | None = None
    against: Literal["git", "live"] = "git"
    options: Mapping[str, Any] = field(default_factory=dict)
    today: dt.date = field(default_factory=lambda: dt.datetime.now(tz=dt.UTC).date())

    @property
    def engine(self) -> Engine | None:
        """The engine of the deployment target; None if the configuration does not name it."""
        return self.contract.engine

    @property
    def wording(self) -> Wording:
        """How the file that declares the table says what a help asks for."""
        return self.contract.wording

    @property
    def writer(self) -> str:
        """The engine and its targets, as messages name them: ``delta-spark 3.3.2 (target prod)``."""
        targets = self.contract.engine_targets
        where = affixed(f" (target{'s'[: len(targets) > 1]} ", ", ".join(targets), ")")
        return f"{self.engine or 'Delta'}{where}"

    def value_of(self, declared: Option[T]) -> T:
        """Return the value of an option of the running rule for the table: the user's, else the default."""
        value: T = self.options[declared.name]
        return value

    @cached_property
    def edit(self) -> Edit:
        """What the contract changes of its base, whatever the live table is; without a base, all is new."""
        return _edit(Itself(self.base.state) if self.base else None, Itself(self.contract.state))

    def refusal_of_writer(self, does: Callable[[Engine], Answer], what: str) -> Problem | None:
        """Return what the engine that runs the statements refuses; None if it does it, or if nobody knows.

        A row about a hosted engine warns: only its vendor knows all that it does. The problem names the other
        writers of the table that cannot do it either, and those that can.

        Args:
            does: Return what an engine does.
            what: What is asked of it: ``widen a from int to bigint``.
        """
        if self.engine is None:
            return None
        answer = does(self.engine)
        if answer.does is None and not self.engine.is_hosted:
            text = f"it is unknown whether {self.writer} can {what}"
            return Problem(text, severity=Severity.INFO)
        if answer.does is not False:
            return None
        since = affixed("; ", answer.since)
        severity = Severity.WARNING if self.engine.is_hosted else None
        others = "".join(f"; {text}" for text in self._of_other_writers(does))
        return Problem(
            f"{self.writer} cannot {what}{answer.note(self.today)}{since}{others}", severity=severity
        )

    def _of_other_writers(self, does: Callable[[Engine], Answer]) -> Iterator[str]:
        others = self.contract.engines.others
        refusing = [str(engine) for engine in others if does(engine).does is False]
        if refusing:
            yield f"neither can {' and '.join(refusing)}"
        able = [str(engine) for engine in others if does(engine).does]
        if able:
            yield f"{' and '.join(able)} can"

    @cached_property
    def consumers(self) -> tuple[Consumer, ...]:
        """The declared readers and writers, base's and head's: see `Consumer.removed`."""
        return united(self.base.consumers if self.base else (), self.contract.consumers)

    @cached_property
    def consumers_by_column(self) -> PathIndex[Consumer]:
        """The consumers that name columns, by `schemalint.delta.path.path_key` of each."""
        return PathIndex(
            (path_key(path), consumer) for consumer in self.consumers for path in consumer.columns
        )

    @cached_property
    def feed_readers(self) -> tuple[Consumer, ...]:
        """The consumers that read the change data feed, but not as a stream."""
        return tuple(consumer for consumer in self.consumers if consumer.cdf and consumer.stream is None)

    @cached_property
    def stated_expressions(self) -> tuple[Expression, ...]:
        """The declared expressions that the live table lacks: no statement declares another one again."""
        in_table = frozenset(expressions_of(self.live.state)) if self.live else frozenset[Expression]()
        declared = expressions_of(self.contract.state)
        return tuple(expression for expression in declared if expression not in in_table)

    def mends(self, expression: Expression) -> bool:
        """Whether the contract replaces or removes an expression of the live table."""
        return expression not in expressions_of(self.after)

    def has_value(self, key: str, value: str | None) -> bool:
        """Whether the live table has a value of a property already: then no statement sets it."""
        return self.live is not None and self.live.state.properties.get(key) == value

    @property
    def column_mapping(self) -> str:
        """The column mapping mode in `after`: ``none``, ``name`` or ``id``."""
        return self.after.column_mapping

    @property
    def is_new_table(self) -> bool:
        """Whether schemalint knows neither a base contract nor a live table."""
        return self.base is None and self.live is None

    @cached_property
    def new_siblings(self) -> Mapping[Path, Mapping[str, tuple[Field, ...]]]:
        """The declared fields that `before` lacks and no rename explains, by struct and text of the type.

        The paths of the structs are in lower case. A column that is gone may be one of these fields, renamed.
        """
        return {
            lowercased(path): new
            for path, after in walk(self.contract.state.columns)
            if isinstance(after, Struct) and isinstance(before := type_at(self.before.columns, path), Struct)
            if (new := _new_fields(before, after))
        }

    @cached_property
    def columns_with_lengths(self) -> frozenset[str]:
        """The columns of `before` that keep a length: see `schemalint.delta.lengths`."""
        removed = (change.path for change in self.changes if isinstance(change, FieldRemoved))
        return columns_with_lengths(self.before.columns, removed)

    @cached_property
    def shifted_structs(self) -> frozenset[Path]:
        """The structs in which fields with a length move: see `schemalint.delta.lengths`."""
        added = (change for change in self.changes if isinstance(change, FieldAdded))
        return shifted_structs(self.before.columns, self.after.columns, added)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the edit, or all that the live table needs; none for a new table.

        For a rule that judges one change together with others.
        """
        if self.against == "live":
            return diff(self.before, self.after)
        return diff(self.base.state, self.contract.state) if self.base else ()

    @property
    def widening_enabled(self) -> bool:
        """Whether ``delta.enableTypeWidening`` is ``true`` in `before` or `after`.

        `before` suffices: the planner widens types before it turns the property off.
        """
        return any(state.enabled("delta.enableTypeWidening") for state in (self.before, self.after))

    @property
    def has_column_mapping(self) -> bool:
        """Whether the table has column mapping in `before` or `after`.

        `before` suffices: the planner renames and drops columns before it removes column mapping.
        """
        return any(state.column_mapping != "none" for state in (self.before, self.after))

    @property
    def drop_requests(self) -> DropRequests:
        """The features that the contract drops, and the table: see `schemalint.delta.feature_drop`."""
        return DropRequests(
            names=self.contract.drop_features,
            truncated=self.contract.truncated_features,
            supported=self.contract.created_features if self.is_new_table else self.features,
            declared=self.contract.state,
            before=self.before,
            after=self.after,
        )

    def rewrites(self, change: TypeChanged | PartitioningChanged | ClusteringChanged) -> bool:
        """Return whether the contract declares a `rewrite` of the table that makes a change possible.

        Delta changes no type and no partitioning in place then: the table is written anew.
        """
        due = self.contract.rewrites.due(self.before, self.contract.state)
        if isinstance(change, TypeChanged):
            return due.covers(change.path)
        return due.partitioned_by is not None

    def alters(self, change: TypeChanged | FieldRenamed | FieldRemoved) -> bool:
        """Whether Delta alters the column, apart from constraints and other objects that depend on it.

        False if another rule already forbids the change, if the contract does not list the dropped column, or
        if the stored type stays the same: Delta stores a ``varchar`` of any length as ``string``.
        """
        match change:
            case TypeChanged(path=path, old=old, new=new):
                is_altered = alters_stored_type(old, new, nested=len(path) > 1)
                return is_altered and (old == VOID or self.widening_enabled)
            case FieldRenamed():
                return self.has_column_mapping
            case FieldRemoved(path=path):
                return self.has_column_mapping and path_key(path) in self.contract.state.dropped_by_key


Check = Callable[[Any, RuleContext], Iterable[Problem]]
CheckT = TypeVar("CheckT", bound=Callable[..., Iterable[Problem]])
T = TypeVar("T")


@frozen
class Rule:
    """A registered rule.

    Attributes:
        code: For example ``ACME001``.
        name: The function name in kebab case.
        severity: The severity of its findings, unless a `Problem` sets another one.
        subjects: The classes of the facts that the rule judges.
        check: The function, called with a fact and its `RuleContext`.
        module: The full name of the module that defines the rule.
        delta_errors: The error classes of Delta that the rule predicts.
        distribution: The installed package that provides the rule; set when schemalint loads it.
        severity_is_set: Whether the user's configuration sets the severity; it then overrides that of a
            problem.
        options: The values of its options by name: the user's, else the default.
        declared_options: Its options.
        live: Whether `audit` asks the rule about live tables too, as `rule` describes.
        verdict: Whether Delta refuses what the rule finds, or only readers and agreements break.
        default: Whether the rule runs where nothing selects rules.
        engine: Whether the rule is asked only for targets that name their engine.
        tables: The tables whose changes the rule judges.
    """

    code: str
    name: str
    severity: Severity
    subjects: tuple[type, ...]
    check: Check
    module: str
    scope: Scope = "table"
    fixable: bool = False
    delta_errors: tuple[str, ...] = ()
    distribution: str = ""
    severity_is_set: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    declared_options: tuple[Option[Any], ...] = ()
    live: bool = False
    verdict: Verdict = "breaking"
    default: bool = True
    engine: bool = False
    tables: Tables = "altered"

    def judges(self, fact: Fact, contract: Contract) -> bool:
        """Whether the rule judges a fact of its classes for a table; see `Tables`."""
        kind: type = type(fact)
        if not _alters_a_table(kind):
            return True
        if contract.managed_how == "create":  # no change reaches a table that exists
            return False
        return self.tables == "any" or (self.tables == "rebuilt") == contract.is_rebuilt

    @property
    def is_silent(self) -> bool:
        """Whether the rule finds nothing because it has options without a default, and none has a value."""
        return self.is_silent_with(self.options)

    def is_silent_with(self, options: Mapping[str, object]) -> bool:
        """Whether the rule finds nothing with these values of its options."""
        needed = [each.name for each in self.declared_options if each.default is None]
        return bool(needed) and all(options[name] is None for name in needed)

    @property
    def doc(self) -> str:
        """The function's docstring, which is also its documentation page."""
        return f"{cleandoc(self.check.__doc__ or '')}\n"

    @property
    def summary(self) -> str:
        """The first line of the documentation page."""
        return self.doc.partition("\n")[0]


ATTRIBUTE = "schemalint_rule"
"""The attribute of a decorated function that holds its `Rule`."""

_CODE = re.compile(r"[A-Z]{2,10}\d{3}")


def rule(  # noqa: PLR0913 (all but the code are keywords)
    code: str,
    *,
    on: type | tuple[type, ...],
    severity: Severity,
    scope: Scope = "table",
    fixable: bool = False,
    delta_errors: tuple[str, ...] = (),
    options: Mapping[str, OptionValue] | Sequence[Option[Any]] = (),
    live: bool = False,
    verdict: Verdict = "breaking",
    default: bool = True,
    engine: bool = False,
    tables: Tables = "altered",
) -> Callable[[CheckT], CheckT]:
    """Register the decorated function as a rule.

    The function takes a fact and a `RuleContext` and returns or yields the problems. Its name in kebab case
    is the rule's name; its docstring is the rule's documentation page.

    Args:
        code: Two to ten capital letters and three digits. Never reuse the code of another rule.
        on: The class of the facts that the rule judges, or several: members of `Fact`, for example
            `schemalint.delta.change.FieldAdded`.
        severity: The default severity.
        scope: ``contract`` for a rule about the contract's own records (``type_changes``). Such a rule judges
            every change in git, even if the live table already has it. ``effect`` for a rule that warns of
            what a possible change does to readers and writers.
        fixable: Whether the rule's problems can have a fix.
        delta_errors: The error classes of Delta that the rule predicts.
        options: The options that users can set under ``[options.CODE]`` and per table, made of the kinds in
            `option`; or their default values by name, if each is a text, a number, true or false.
        live: For a rule about `Contract` or `TableAdded`: whether `audit` asks it about live tables too, each
            with the contract that declares the table exactly as it is.
        verdict: ``impossible`` if Delta cannot do in place what the rule's errors are about, so that an
            exception needs a way out; ``breaking`` if it can.
        default: Whether the rule runs where nothing selects rules. If not, it runs only where ``select`` or
            ``extend-select`` selects it: by its code, a prefix of that, its name, or ``ALL``.
        engine: Whether the rule is asked only for targets whose configuration names their engine.
        tables: For a rule about changes: ``rebuilt`` if it judges those of tables that another tool builds
            anew, ``any`` if it judges these too.

    Raises:
        ValueError: The code is malformed, or the function has no docstring (raised when it is decorated).
    """
    if not _CODE.fullmatch(code):
        raise ValueError(f"{code!r} is not a rule code: two or more capital letters and three digits")

    def decorate(check: CheckT) -> CheckT:
        if not check.__doc__:
            raise ValueError(
                f"the rule {check.__name__} has no docstring: a rule's docstring is its documentation page"
            )
        declared = _declared(options)
        registered = Rule(
            code=code,
            name=check.__name__.replace("_", "-"),
            severity=severity,
            subjects=on if isinstance(on, tuple) else (on,),
            check=check,
            module=check.__module__,
            scope=scope,
            fixable=fixable,
            delta_errors=delta_errors,
            options=MappingProxyType({each.name: each.value(None) for each in declared}),
            declared_options=declared,
            live=live,
            verdict=verdict,
            default=default,
            engine=engine,
            tables=tables,
        )
        setattr(check, ATTRIBUTE, registered)
        return check

    return decorate


@cache  # a check asks each rule about each fact, and a union of twenty classes is slow
def _alters_a_table(kind: type) -> bool:
    return issubclass(kind, Change) and not issubclass(kind, TableAdded)


@lru_cache(maxsize=8)  # each rule has a context of its own
def _edit(before: Itself[TableState] | None, after: Itself[TableState]) -> Edit:
    return Edit(before.value if before else None, after.value)


def _declared(options: Mapping[str, OptionValue] | Sequence[Option[Any]]) -> tuple[Option[Any], ...]:
    if isinstance(options, Mapping):
        return tuple(
            Option(name, "", option.Plain(type(default)), default) for name, default in options.items()
        )
    return tuple(options)


def _new_fields(before: Struct, after: Struct) -> Mapping[str, tuple[Field, ...]]:
    new = [item for item in after.fields if item.renamed_from is None and before.get(item.name) is None]
    return grouped((print_type(item.type), item) for item in new)
