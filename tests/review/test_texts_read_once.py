"""A check reads each text once, however many it compares, and of the head what differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from schemalint.base.document import yaml_reader
from schemalint.project.git import Contents, File, Worktree
from schemalint.review.check_input import CheckInput
from schemalint.review.run_check import check
from support.judging import rule_sets
from support.rule_judging import built_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from yaml.events import Event

NUMBER = 300  # more than any cache of read texts has
COLUMNS = 40


def text(table: int, type_: str) -> str:
    columns = "".join(f"  - {{name: a{index}, type: int}}\n" for index in range(COLUMNS))
    return f"schemalint: 1\ntable: sales.t{table}\ncolumns:\n{columns}  - {{name: id, type: {type_}}}\n"


def test_each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    nodes: Counter[str] = Counter()

    def counted(text: str) -> Callable[[], Event]:
        read[text] += 1
        next_event = events(text)

        def counting() -> Event:
            nodes[text] += 1
            return next_event()

        return counting

    events = yaml_reader.events
    monkeypatch.setattr(yaml_reader, "events", counted)
    base, head = (
        {f"{table}.yml": File(f"{table}.yml", text(table, type_).encode(), None) for table in range(NUMBER)}
        for type_ in ("int", "bigint")
    )
    result = check(
        CheckInput(Worktree(), Worktree(), Contents(base, head), rule_sets(tuple(built_in().values())))
    )

    fixable = [finding for finding in result.findings if finding.text_changes]
    assert len(fixable) == NUMBER
    assert {finding.location.line for finding in fixable} == {COLUMNS + 4}
    # A remedy would hold the states that were judged.
    assert all(finding.remedy is None for finding in result.findings)
    old, new = ([file.data.decode() for file in side.values()] for side in (base, head))
    assert max(read[each] for each in old) == 1
    assert not any(read[each] for each in new)
    # Beside the base, nothing is read of the head but settings and the column that has changed. The
    # fixes, which set a property, read all but the columns.
    others = sum(number for each, number in nodes.items() if each not in {*old, *new})
    assert others < sum(nodes[each] for each in old) / 2
