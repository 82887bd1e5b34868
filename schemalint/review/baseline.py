"""The baseline: findings of the past, which do not fail a run.

An entry is found by `Finding.fingerprint`: neither the line of a finding nor its message counts. It covers as
many findings as it was written for, and none that is more severe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from schemalint.base.errors import ConfigError, Location
from schemalint.base.values import as_dict, field, frozen, replace
from schemalint.model.exception import IN_BASELINE, ExceptionSource, RuleException, WrittenException
from schemalint.model.finding import Finding, Severity
from schemalint.model.rule_codes import NEVER_APPROVED

VERSION: Final = 1
_KEY: Final = "schemalint_baseline"
_MOST: Final = 1_000_000


@frozen
class Entry:
    """Findings of a baseline that are the same but for their places.

    Attributes:
        object: The kind and the name of the object.
        against: The other sides of the comparison that found them.
        count: How many there are.
    """

    table: str
    code: str
    object: str
    severity: str
    target: str | None
    against: tuple[str, ...]
    fingerprint: str
    count: int = 1


@frozen
class Baseline:
    """The entries of a file.

    Attributes:
        file: The file's name in locations.
        entries: By fingerprint.
        merged: Those that the base has; None if all entries count like merged ones.
        void: Return whether an entry that the change under review adds does not count for a finding.
        text: The file's text.
    """

    file: str
    entries: Mapping[str, Entry] = field(default_factory=dict)
    merged: Mapping[str, Entry] | None = None
    void: Callable[[Finding], bool] = lambda _finding: False
    text: str = ""

    def entry_for(self, finding: Finding, number: int) -> Entry | None:
        """Return the entry that covers a finding, the so manieth with its fingerprint; None if none does."""
        entry = None if finding.code in NEVER_APPROVED else self.entries.get(finding.fingerprint)
        if entry is not None and _covers(entry, finding, number):
            return entry
        return None

    def has_merged(self, finding: Finding, number: int) -> bool:
        """Whether what the base has of the baseline covers a finding."""
        entry = (self.entries if self.merged is None else self.merged).get(finding.fingerprint)
        return entry is not None and _covers(entry, finding, number)


def read_baseline(file: str, data: bytes) -> dict[str, Entry]:
    """Read the entries of a file by fingerprint.

    Raises:
        ConfigError: The file is no baseline.
    """
    try:
        document = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise _no_baseline(file, f"not valid JSON: {error}") from None
    if not isinstance(document, dict) or document.get(_KEY) != VERSION or {*document} != {_KEY, "findings"}:
        raise _no_baseline(file, f'it needs "{_KEY}": {VERSION} and "findings", and nothing else')
    entries: dict[str, Entry] = {}
    findings = document["findings"]
    for number, written in enumerate(findings if isinstance(findings, list) else [None], 1):
        entry = _entry(written)
        if entry is None or entry.fingerprint in entries:
            raise _no_baseline(file, f"entry {number} is invalid or repeats another one")
        entries[entry.fingerprint] = entry
    return entries


def text_of(entries: Iterable[Entry]) -> str:
    """Return the text of a baseline: one line for each entry, in order."""
    ordered = sorted(entries, key=lambda entry: (entry.table, entry.code, entry.object, entry.fingerprint))
    lines = ",\n".join(f"    {json.dumps(_written(entry))}" for entry in ordered)
    findings = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "{_KEY}": {VERSION},\n  "findings": {findings}\n}}\n'


def unused(
    baseline: Baseline, covered: Mapping[str, int], is_judged: Callable[[Entry], bool]
) -> Iterator[WrittenException]:
    """Yield the entries that cover fewer findings than they are written for, of those that the run judged."""
    for fingerprint, entry in baseline.entries.items():
        if covered.get(fingerprint, 0) < entry.count and is_judged(entry):
            yield written_exception(baseline, entry)


def rewritten(
    baseline: Baseline | None,
    findings: Iterable[Finding],
    covered: Mapping[str, int],
    is_judged: Callable[[Entry], bool],
    *,
    grow: bool,
) -> tuple[Entry, ...]:
    """Return the entries to write: those that are still used, and with ``grow`` those of all other findings.

    Args:
        baseline: The baseline that is there; None if there is none, and all findings are written.
        findings: The findings that nothing approves.
        covered: How many findings each entry covers, by fingerprint.
        is_judged: Whether the run could find what an entry is for: another one stays as it is.
        grow: Whether to add entries.
    """
    entries: dict[str, Entry] = {}
    for fingerprint, entry in (baseline.entries if baseline else {}).items():
        count = covered.get(fingerprint, 0) if is_judged(entry) else entry.count
        if count:
            entries[fingerprint] = replace(entry, count=count)
    if grow or baseline is None:
        for finding in findings:
            if finding.in_baseline or finding.code in NEVER_APPROVED:
                continue
            entry = _entry_of(finding)
            old = entries.get(entry.fingerprint)
            entries[entry.fingerprint] = entry if old is None else _united(old, entry)
    return tuple(entries.values())


def written_exception(baseline: Baseline, entry: Entry, *, added: bool = False) -> WrittenException:
    """Return an entry as the exception that it is."""
    line = _lines(baseline.text).get(entry.fingerprint, 1)
    exception = RuleException(entry.code, "it is in the baseline", object=entry.object)
    location = Location(baseline.file, line, 1, line, 1)
    return WrittenException(exception, entry.table, ExceptionSource.FILE, location, added, index=IN_BASELINE)


@lru_cache(maxsize=2)
def _lines(text: str) -> dict[str, int]:
    """Return the line of each fingerprint in the text of a baseline."""
    return {
        fingerprint: number
        for number, line in enumerate(text.splitlines(), 1)
        for fingerprint in re.findall(r'"fingerprint"\s*:\s*"([^"]*)"', line)
    }


def _covers(entry: Entry, finding: Finding, number: int) -> bool:
    return number <= entry.count and finding.severity <= Severity[entry.severity.upper()]


def _entry_of(finding: Finding) -> Entry:
    return Entry(
        finding.table,
        finding.code,
        f"{finding.object.kind} {finding.column or finding.object.name}".strip(),
        finding.severity.label,
        finding.target,
        finding.against,
        finding.fingerprint,
    )


def _united(old: Entry, new: Entry) -> Entry:
    severity = max(old.severity, new.severity, key=lambda word: Severity[word.upper()])
    return replace(old, severity=severity, count=old.count + new.count)


def _written(entry: Entry) -> dict[str, object]:
    return {
        name: value
        for name, value in as_dict(entry).items()
        if not (name == "target" and value is None) and not (name == "count" and value == 1)
    }


def _entry(data: object) -> Entry | None:
    if not isinstance(data, dict):
        return None
    texts = ("table", "code", "object", "severity", "fingerprint")
    against, count, target = data.get("against"), data.get("count", 1), data.get("target")
    is_valid = (
        {*data} <= {*Entry.__match_args__}
        and all(isinstance(data.get(name), str) for name in texts)
        and data["severity"] in {severity.label for severity in Severity}
        and isinstance(against, list)
        and all(isinstance(side, str) for side in against)
        and type(count) is int
        and 0 < count <= _MOST
        and (target is None or isinstance(target, str))
    )
    if is_valid:
        return Entry(**{**data, "target": target, "against": tuple(against or ())})
    return None


def _no_baseline(file: str, reason: str) -> ConfigError:
    return ConfigError(
        f"{file} is no baseline of schemalint: {reason}",
        help="write it with --write-baseline, to another file if this one has a purpose",
        location=Location(file),
    )
