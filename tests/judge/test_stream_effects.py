"""What a check says of declared streams: offline and live alike, and nothing of refused changes."""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, given, settings

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.stream_progress import StreamPosition, StreamProgress, commits_to_meet
from schemalint.delta.table import History, HistoryEntry
from schemalint.judge.case import git_context, live_context
from schemalint.judge.stream_effects import affected_streams
from schemalint.model.column_tracking import track_columns
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding
from support.contract_edits import EDITS
from support.contract_pairs import Pair, pairs
from support.effective import counting
from support.judging import judge_live, judge_pair, live_case
from support.seam import created_table, rules

MAPPED: Final = "{delta.columnMapping.mode: name}"
CODES: Final = frozenset({"RD009", "RD010", "RD011"})
STREAM: Final = "{checkpoint: /cp, schema_tracking_location: /cp}"
STREAMS: Final = (
    Consumer("tracked", stream=Stream("/cp", schema_tracking_location="/cp")),
    Consumer("plain", stream=Stream("/cp")),
)


def contract(columns: str, properties: str = MAPPED, stream: str = STREAM, more: str = "") -> Contract:
    text = (
        f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\nproperties: {properties}\n"
        f"consumers: [{{name: silver, stream: {stream}}}]\n{more}"
    )
    read = contracts.read("orders.yaml", text.encode())
    assert not read.errors, read.errors
    return read.contracts[0]


CUST: Final = "{name: id, type: int}, {name: cust, type: string}"
RENAMED: Final = "{name: id, type: int}, {name: customer, type: string, renamed_from: cust}"


def stream_codes(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in findings if finding.code in CODES]


def test_a_live_check_judges_what_the_table_still_needs() -> None:
    """The table has the rename already, and lacks a column."""
    base = contract(CUST)
    head = contract(f"{RENAMED}, {{name: more, type: int}}")
    found = judge_live(live_case(head, created_table(contract(RENAMED)), base=base), rules())
    assert stream_codes(found) == ["RD011"]
    found = judge_live(live_case(head, created_table(base), base=base), rules())
    assert stream_codes(found) == ["RD009"]


def test_the_version_of_an_unblocked_change_counts_with_the_live_table() -> None:
    """The created table has version 0, the rename makes version 1."""
    base = contract(CUST)
    for version, codes in ((1, ["RD011"]), (2, ["RD009"])):
        stream = f"{STREAM[:-1]}, unblock: {{rename: {version}}}}}"
        head = contract(RENAMED, stream=stream)
        assert stream_codes(judge_live(live_case(head, created_table(base), base=base), rules())) == codes
        assert stream_codes(judge_pair(base, head, rules())) == ["RD009"]


def test_a_change_is_not_charged_with_what_a_stream_has_not_met_yet() -> None:
    """The table was renamed at version 1. Streams that wait before it and behind it meet an added column."""
    created, renamed = created_table(contract(CUST)), created_table(contract(RENAMED))
    history = History(
        (
            HistoryEntry(0, metadata=created.metadata, protocol=created.protocol),
            HistoryEntry(1, metadata=renamed.metadata),
        )
    )
    table = replace(renamed, version=1, history=history)
    found = {}
    for position in (1, 2):
        progress = StreamProgress(StreamPosition("id", position))
        progress = replace(progress, to_meet=commits_to_meet(progress, table))
        stream = Consumer("silver", stream=Stream("/cp", schema_tracking_location="/cp", progress=progress))
        base = replace(contract(RENAMED), consumers=(stream,))
        head = replace(contract(f"{RENAMED}, {{name: more, type: int}}"), consumers=(stream,))
        judged = judge_live(live_case(head, table, base=base), rules())
        found[position] = [(code, finding.existing) for finding in judged if (code := finding.code) in CODES]
    assert found == {1: [("RD009", True)], 2: [("RD011", False)]}


def test_a_refused_change_says_nothing_of_streams() -> None:
    before, after = contract(CUST, "{}"), contract(RENAMED, "{}")
    assert "CM001" in {finding.code for finding in judge_pair(before, after, rules())}
    assert stream_codes(judge_pair(before, after, rules())) == []


def test_a_waiting_upgrade_hides_no_stream() -> None:
    """The upgrade needs an approval, not another change."""
    before, after = contract(CUST, "{}"), contract(RENAMED)
    codes = {finding.code for finding in judge_pair(before, after, rules())}
    assert {"PF004", "RD009"} <= codes


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(pairs(EDITS))
def test_streams_meet_the_same_offline_and_live(pair: Pair) -> None:
    if pair.made is None:
        return
    base, head = (replace(made, consumers=STREAMS) for made in (pair.made, pair.declared))
    offline = affected_streams(git_context(counting(base), counting(head)))
    table = created_table(base)
    tracking = track_columns(table.state.columns, [base.state, head.state])
    live = affected_streams(live_context(counting(head), table, counting(base), tracking), tracking)
    if offline is None:  # a rule or the planner refuses the edit
        return
    assert live is not None
    met = [
        [(stream.effect.verdict, stream.effect.stops, stream.effect.unblock) for stream in affected.streams]
        for affected in (offline, live)
    ]
    assert met[0] == met[1]
