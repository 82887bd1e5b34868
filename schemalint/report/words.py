"""Words that all reports have for clients, and for what follows from a change or leads to it."""

from __future__ import annotations

from schemalint.base.phrases import affixed
from schemalint.delta.way_out import Way, WayOut
from schemalint.model.client import ClientSupport
from schemalint.model.finding import Consequence


def way_text(way: WayOut) -> str:
    """Say what is to be done, and what it costs; of an engine that nobody asked, that this is unknown."""
    text = _priced(way)
    if way.unknown_for:
        return f"{text} (on the newest Delta; unknown for {way.unknown_for})"
    return text


def _priced(way: WayOut) -> str:
    if way.refused:
        steps = {Way.COLUMN: "the last step", Way.DEFINE: "the rows, and leaves the table empty"}
        step = steps.get(way.way, "it")
        return f"{way.does}: Delta refuses {step} ({way.refused})"
    costs = [f"`apply` does it: {way.declare}"] if way.declare else []
    if way.commits is not None:
        costs.append(f"{way.commits} commit{'s'[: way.commits != 1]}")
    if way.loses:
        costs.append(f"loses {', '.join(way.loses)}")
    ended = ((way.streams, way.stops), (way.tracked, way.stops_tracked))
    costs += (f"stops {', '.join(names)} ({error})" for names, error in ended if names)
    if way.unsure:
        costs.append(f"unknown whether Delta goes the last step: {way.unsure}")
    if way.rewrites:
        costs += _of_rewrite(way)
    if costs:
        return f"{way.does}: {'; '.join(costs)}"
    return way.does


def _of_rewrite(way: WayOut) -> list[str]:
    """Say how much is written again, and how long it can be undone: only a live table tells."""
    if way.size is None and way.until is None:
        return ["bytes and last day of RESTORE unknown"]
    written = "an unknown number of" if way.size is None else f"{way.size:,}"
    until = f"until {way.until} at the latest, if done today" if way.until else "for an unknown time"
    return [f"rewrites {written} bytes", f"RESTORE {until}"]


def way_json(way: WayOut) -> dict[str, object]:
    """Return a way for the JSON of findings and of plans."""
    return {
        "way": way.way.value,
        "does": way.does,
        "commits": way.commits,
        "loses": list(way.loses),
        "refused": way.refused,
        "stops": way.stops,
        "streams": list(way.streams),
        "stops_tracked": way.stops_tracked,
        "tracked_streams": list(way.tracked),
        "unknown_for": str(way.unknown_for) if way.unknown_for else None,
        "unsure": way.unsure,
        "rewrites": way.rewrites,
        "bytes": way.size,
        "restore_until": way.until.isoformat() if way.until else None,
        "declare": way.declare or None,
    }


def consequence_text(consequence: Consequence) -> str:
    """Say what follows, and what to do about it: ``PF004 error: the protocol rises …; allow it with …``."""
    todo = affixed("; ", consequence.help)
    return f"{consequence.code} {consequence.severity.label}: {consequence.message}{todo}"


def consequence_json(consequence: Consequence) -> dict[str, object]:
    """Return what follows from a finding's help, for the JSON of findings and of plans."""
    return {
        "code": consequence.code,
        "severity": consequence.severity.label,
        "message": consequence.message,
        "help": consequence.help,
        "column": consequence.column,
    }


def client_json(client: ClientSupport) -> dict[str, object]:
    """Return what every JSON report says of a client; ``before`` is null where there was no table."""
    return {
        "table": client.table,
        "consumer": client.consumer.name,
        "client": client.consumer.client,
        "version": client.consumer.version,
        "before": client.verdict_before,
        "after": client.after.verdict.value,
        "because": client.because,
    }


def client_text(client: ClientSupport) -> str:
    """Describe what a client does before and after: ``dashboards (trino 476): ok, then refuses: …``."""
    after = client.after.verdict.value
    verdict = after
    if client.before and client.before.verdict is not client.after.verdict:
        verdict = f"{client.before.verdict.value}, then {after}"
    if client.after.assumed:
        verdict += " (assumed from an older version)"
    return f"{client.consumer.described}: {verdict}{affixed(': ', client.because)}"
