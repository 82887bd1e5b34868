"""Ask the client table what a client does with a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from schemalint.base.values import frozen, grouped, replace
from schemalint.clients.client_table import (
    ANY,
    Client,
    Row,
    find_client,
    name_in_rows,
)
from schemalint.delta import protocol
from schemalint.delta.datatype import VOID, Atomic, Struct, items_of, walk, walk_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import TableState
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES
from schemalint.delta.type_text import print_type
from schemalint.model.client import (
    EVERY,
    Reason,
    Support,
    TableForm,
    Trait,
    Verdict,
    Version,
    VersionRange,
    parse_versions,
)
from schemalint.model.consumer import Consumer

_FORMATS: Final = "delta.universalFormat.enabledFormats"
_OF_READERS: Final = frozenset(name for name, row in FEATURES.items() if row.reader)


def form_of(state: TableState, features: frozenset[str], at_least: Protocol | None = None) -> TableForm:
    """Return the form of a table.

    Args:
        state: The table's columns and properties.
        features: The features that it supports.
        at_least: The protocol that the live table has; its versions never decrease while a feature remains.
    """
    reader, writer = protocol.minimum_versions(features)
    if at_least is not None:
        reader, writer = max(reader, at_least.min_reader), max(writer, at_least.min_writer)
    listed = frozenset() if at_least is None else at_least.reader_features
    formats = (state.properties.get(_FORMATS) or "").lower().split(",")
    return TableForm(
        reader,
        writer,
        features,
        features & (listed | _OF_READERS),
        state.column_mapping,
        # Without the feature no client reads the records.
        recorded_type_changes(state) if features & TYPE_WIDENING_FEATURES else frozenset(),
        frozenset(name.strip() for name in formats if name.strip()),
        any(isinstance(type_, Struct) and not type_.has_unique_names for _path, type_ in walk(state.columns)),
        types=frozenset(types_without_feature(state)),
    )


def recorded_type_changes(state: TableState) -> frozenset[tuple[str, str]]:
    """Return the type changes that the columns record, in the form of `TableForm.type_changes`."""
    return frozenset(
        (print_type(recorded.from_type), print_type(recorded.to_type))
        for _path, field in walk_fields(state.columns)
        for recorded in items_of(field.type_changes)
    )


def types_without_feature(state: TableState) -> Mapping[str, str]:
    """Return the types in the form of `TableForm.types`, each with the first column that has it.

    Delta reads a void field inside a column, and a void partition column, as null (measured on Delta 3.3.2).
    """
    found: dict[str, str] = {}
    for path, type_ in walk(state.columns):
        if isinstance(type_, Atomic) and type_.name.startswith("time("):
            found.setdefault("time", str(path[0]))
        elif type_ == VOID and len(path) == 1 and str(path[0]).lower() not in state.partition_keys:
            found.setdefault("void", str(path[0]))
    return found


def support(consumer: Consumer, form: TableForm, user_rows: Iterable[Mapping[str, Any]] = ()) -> Support:
    """Return what a consumer's client does with a table.

    A range of versions, and a client with several read paths of which none is named, get the most harmful
    verdict. A version above the newest that the rows speak of gets the verdict of that one, as assumed.

    Args:
        consumer: A consumer with a client.
        form: The form of the table.
        user_rows: The rows of ``[[clients]]``, which precede the shipped ones.
    """
    rows = tuple(user_rows)
    if rows:
        return _support(consumer, form, rows)
    return _known_support(consumer.client, consumer.version, consumer.read_path, consumer.access, form)


@lru_cache(maxsize=4096)
def _known_support(
    client: str | None, version: str | None, read_path: str | None, access: str, form: TableForm
) -> Support:
    """Return the answer for tables of the same form once."""
    return _support(Consumer("", client, version, read_path, access), form, ())


def _support(consumer: Consumer, form: TableForm, user_rows: Iterable[Mapping[str, Any]]) -> Support:
    client = find_client(consumer.client or "", user_rows)
    if client is None:
        return _unknown_client(f"{consumer.client} is not in the client table")
    try:
        versions = EVERY if consumer.version is None else parse_versions(consumer.version)
    except ValueError:
        return _unknown_client(f"the version {consumer.version!r} of {client.name} cannot be read")
    questions = tuple(_questions(client, form, consumer.access))
    rows = tuple(row for question in questions for row in question.rows)
    paths = (consumer.read_path,) if consumer.read_path is not None else client.read_paths or (None,)
    answers = [
        tuple(_decisive(_answer(client, question, version, path) for question in questions))
        for path in paths
        for version in _points(versions, rows)
    ]
    if consumer.version is None and any(row.versions != EVERY for row in rows):
        answers = [_without_version(answers)]
    worst: dict[tuple[Trait, str, str], Reason] = {}
    for reason in (reason for reasons in answers for reason in reasons if reason.verdict is not Verdict.OK):
        key = (reason.trait, reason.name, reason.access)
        if key not in worst or worst[key].verdict.harm < reason.verdict.harm:
            worst[key] = reason
    decides = max((reason.verdict.harm for reason in worst.values()), default=0)
    assumed = any(
        reason.assumed for reasons in answers for reason in reasons if decides in (0, reason.verdict.harm)
    )
    return Support(tuple(worst.values()), assumed)


def _decisive(answers: Iterable[Reason]) -> Iterator[Reason]:
    """Yield what a client of one version answers, without what it does not come to.

    What it refuses for one reason it does not read wrongly for another; and no type change matters to a
    client that does not read the feature.
    """
    all_reasons = tuple(answers)
    refuses = any(reason.verdict is Verdict.REFUSES for reason in all_reasons if reason.access == "read")
    lacking = {reason.name for reason in all_reasons if reason.verdict is not Verdict.OK}
    for reason in all_reasons:
        if refuses and reason.verdict is Verdict.WRONG:
            continue
        if reason.trait is not Trait.TYPE_CHANGE or not lacking & TYPE_WIDENING_FEATURES:
            yield reason


def _without_version(answers: Iterable[Iterable[Reason]]) -> tuple[Reason, ...]:
    """Return what all versions answer; unknown where they differ."""
    of_trait = grouped(
        ((reason.trait, reason.name, reason.access), reason)
        for of_version in answers
        for reason in of_version
    )
    of_all: list[Reason] = []
    for (trait, name, access), reasons in of_trait.items():
        reason = Reason(
            trait, name, Verdict.UNKNOWN, access, "it depends on the version, which is not declared"
        )
        if len({each.verdict for each in reasons}) == 1:
            reason = reasons[0]
        of_all.append(reason)
    return tuple(of_all)


def cures(
    consumer: Consumer, form: TableForm, user_rows: Iterable[Mapping[str, Any]] = ()
) -> tuple[str, ...]:
    """Return what would let a consumer read or write a table: a later version of its client, a read path."""
    client = find_client(consumer.client or "", user_rows)
    if client is None or consumer.version is None:
        return ()
    texts = []
    high = parse_versions(consumer.version).high
    later = sorted({row.versions.low for row in client.rows if high is not None and row.versions.low >= high})
    for version in later:
        text = ".".join(map(str, version))
        if support(replace(consumer, version=f"=={text}"), form, user_rows).verdict is Verdict.OK:
            texts.append(f"{client.name} {text}")
            break
    texts += [
        f"the read path {path} of {client.name}"
        for path in client.read_paths
        if path != consumer.read_path
        and support(replace(consumer, read_path=path), form, user_rows).verdict is Verdict.OK
    ]
    return tuple(texts)


def _unknown_client(what: str) -> Support:
    return Support((Reason(Trait.CLIENT, what, Verdict.UNKNOWN),))


@frozen
class _Question:
    """Something of the table that the client must support, with the rows that speak of it.

    Attributes:
        default: The verdict where no row speaks of it.
    """

    trait: Trait
    name: str
    access: str
    rows: tuple[Row, ...]
    default: Verdict = Verdict.UNKNOWN


def _questions(client: Client, form: TableForm, access: str) -> Iterator[_Question]:
    """Yield what a client must support; a writer must support for reading what a reader must, and more."""
    if client.reads is not None:
        lacking = {"write", *([] if client.reads in form.formats else ["read"])}
        for kind in dict.fromkeys(("read", access)):
            rows = tuple(row for row in client.rows if row.format == client.reads and row.access == kind)
            if kind in lacking:
                yield _Question(Trait.FORMAT, client.reads, kind, rows)
        for name in sorted(form.unreadable):
            yield _Question(Trait.FINDING, name, "read", ())  # Delta writes no more metadata for the format
        return
    yield from _of_access(client, form, "read", form.reader_features)
    if access == "write":
        yield from _of_access(client, form, "write", form.features)


def _of_access(client: Client, form: TableForm, access: str, features: Iterable[str]) -> Iterator[_Question]:
    rows = tuple(row for row in client.rows if row.access == access and row.fits(form))
    for name in sorted(form.unreadable if access == "read" else form.unwritable):
        exact = (row for row in rows if name in row.findings)
        speaking = (*exact, *(row for row in rows if ANY in row.findings))
        yield _Question(Trait.FINDING, name, access, speaking)
    of_form = tuple(
        row
        for row in rows
        if not (
            row.features or row.type_changes or row.types or row.format or row.repeated_names or row.findings
        )
    )
    if of_form:
        name = f"({form.reader},{form.writer})"
        yield _Question(Trait.PROTOCOL, name, access, of_form, default=Verdict.OK)
    for feature in sorted(features):
        # Every table has these by default, so a client that writes Delta tables at all supports them.
        is_basic = feature in protocol.DEFAULT_FEATURES
        default = Verdict.OK if is_basic else Verdict.UNKNOWN
        speaking = tuple(row for row in rows if feature in row.features)
        yield _Question(Trait.FEATURE, feature, access, speaking, default)
    for old, new in sorted(form.type_changes):
        of_rows = (name_in_rows(old), name_in_rows(new))
        exact = (row for row in rows if of_rows in row.type_changes)
        speaking = (*exact, *(row for row in rows if ANY in row.type_changes))
        yield _Question(Trait.TYPE_CHANGE, f"{old} -> {new}", access, speaking)
    for type_ in sorted(form.types):
        yield _Question(Trait.TYPE, type_, access, tuple(row for row in rows if type_ in row.types))
    if form.repeated_names:
        speaking = tuple(row for row in rows if row.repeated_names)
        yield _Question(Trait.NAMES, "that differ only in case", access, speaking)


def _points(versions: VersionRange, rows: Iterable[Row]) -> Iterator[Version]:
    """Yield the versions at which the answer may change, from the lowest of the range on."""
    bounds = {bound for row in rows for bound in (row.versions.low, row.versions.high) if bound}
    yield from sorted({versions.low, *(bound for bound in bounds if bound in versions)})


def _answer(client: Client, question: _Question, version: Version, read_path: str | None) -> Reason:
    rows = [row for row in question.rows if row.read_path in (None, read_path)]
    row = next((row for row in rows if version in row.versions), None)
    assumed = client.newer_than is not None and version >= client.newer_than
    if row is None and question.default is Verdict.UNKNOWN:
        row, assumed = _last_before(rows, version), True
    if row is None:
        return Reason(question.trait, question.name, question.default, question.access, read_path=read_path)
    return Reason(
        question.trait,
        question.name,
        row.verdict,
        question.access,
        row.detail,
        read_path,
        row.evidence,
        assumed,
    )


def _last_before(rows: list[Row], version: Version) -> Row | None:
    """Return the row of the newest versions if the version is above all that the rows speak of."""
    highs = [row.versions.high for row in rows]
    if any(high is None or high > version for high in highs):
        return None
    newest = max((high for high in highs if high is not None), default=None)
    return next((row for row in rows if row.versions.high == newest), None)
