"""The declared streams of changed tables, as all reports describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from schemalint.base.phrases import affixed, counted
from schemalint.delta.stream_settings import reader_options
from schemalint.delta.streams import WITHOUT_LOG, StreamEffect, StreamVerdict
from schemalint.model.stream_report import StreamReport
from schemalint.report.text_helpers import listed


def effect_text(effect: StreamEffect) -> str:
    """Describe what happens to a stream in a few words."""
    if effect.since is None:
        return _newest_effect_text(effect)
    return f"{_newest_effect_text(effect)}; with Delta before {effect.since} it cannot go on ({WITHOUT_LOG})"


def _newest_effect_text(effect: StreamEffect) -> str:
    stops = f"stops {'once' if effect.stops == 1 else counted(effect.stops or 0, 'time')}"
    match effect.verdict:
        case StreamVerdict.CONTINUES:
            return "continues"
        case StreamVerdict.RESTARTS:
            return f"{stops}; start it again"
        case StreamVerdict.BLOCKED:
            has_stopped = stops if effect.stops else "has stopped"
            return f"{has_stopped}, blocked by {listed([kind.key for kind in effect.unblock])}"
        case StreamVerdict.NEW_CHECKPOINT:
            return f"cannot go on{affixed(' (', effect.error, ')')}, and needs a new checkpoint"
        case StreamVerdict.UNKNOWN:
            return "unknown"
        case _:
            assert_never(effect.verdict)


def verdict_text(report: StreamReport) -> str:
    """Describe what happens to a declared stream; if that is unknown, what the change alone does."""
    if report.has_passed:
        kinds = listed([kind.key for kind in report.effect.unblock])
        return f"goes on with its settings; without them each start is blocked by {kinds}"
    effect = effect_text(report.effect)
    if report.if_up_to_date is None:
        return effect
    return f"unknown; if it has read everything before: {effect}"


def stream_title(report: StreamReport) -> str:
    """Name a stream with its owner."""
    return f"stream {report.consumer.name}{affixed(' (', report.consumer.owner, ')')}"


def place_lines(report: StreamReport) -> Iterator[str]:
    """Say why it is unknown where a stream is, so that it may meet more than these changes."""
    if report.unknown is not None:
        yield f"its position is unknown: {report.unknown}"


def settings_lines(report: StreamReport, *, applied: bool = False) -> Iterator[str]:
    """Describe the settings that unblock a stream, and how long it needs them.

    A stream compares its newest entry with the one before at every start, so it needs the settings until it
    has met the next change (measured on Delta 4.4.0).

    Args:
        report: A stream, blocked or not.
        applied: Whether the versions are those of the log, as where nothing is left to apply; otherwise they
            are those to expect.
    """
    if not report.effect.blocks:
        return
    when = "set" if applied else "set before the apply"
    if report.has_passed:
        when = "keep set"
    if report.version is not None:
        when += f" for version {report.version}"
        if not applied:
            when += ", if nothing else is committed before"
    yield f"{when}, and remove it once the stream has met the change after it:"
    spellings = report.settings
    for spelled in spellings:
        label = f"with a checkpoint in {spelled.scheme}: " if len(spellings) > 1 else ""
        yield from (f"  {label}{line}" for line in _pairs(spelled.conf))
    if not spellings:
        for block in report.effect.blocks:
            options = reader_options(block.kinds, block.version)
            yield from (f"  as option of readStream: {line}" for line in _pairs(options))


def _pairs(conf: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{key} = {value}" for key, value in conf.items())
