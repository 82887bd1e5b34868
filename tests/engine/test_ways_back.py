"""What the help says of RESTORE for a damaged live table is what Spark does.

Each recorded log gets a version before it, with the same protocol and plain columns of the same names, or
with the same column mapping.
"""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from engine.record_logs import ACCEPTED, _outcome, all_questions, listing_files, log_text
from schemalint.base.errors import LiveError
from schemalint.delta.schema_history import MAX_COLUMN_ID
from support.judging import judge_table
from support.rule_judging import built_in
from support.sampling import some_of_each
from support.short_files import write_data_files
from support.short_logs import logged_table, write_short_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESTORES: Final = ("restore the version before", "restore a version", "restore the last version")
REFUSES: Final = "Spark refuses RESTORE too"


def with_version_before(text: str) -> str | None:
    """Return a log with a plain table before it; None for a log that does not begin with a table."""
    first, *later = yaml.safe_load(text)
    if not {"protocol", "metaData"} <= first.keys() or "fields" not in first["metaData"]:
        return None
    names = {field["name"].lower(): field["name"] for field in first["metaData"]["fields"]}
    fields = [{"name": name, "type": "string"} for name in names.values()]
    before: dict[str, Any] = {"protocol": first["protocol"], "metaData": {"fields": fields}}
    configuration = first["metaData"].get("configuration")
    if isinstance(configuration, dict) and not str(configuration.get(MAX_COLUMN_ID, 0)).isdecimal():
        # What the version before has decides.
        before["metaData"] = copy.deepcopy(first["metaData"])
        before["metaData"]["configuration"][MAX_COLUMN_ID] = str(len(fields))
    return yaml.safe_dump([before, first, *later])


def helps(text: str) -> list[str]:
    """Return what the findings about the newest state of a log say; nothing of one that cannot be read."""
    with TemporaryDirectory() as folder:
        try:
            table = logged_table(text, Path(folder))
        except LiveError:
            return []
        found = judge_table(table, tuple(built_in().values()))
    return [finding.help for finding in found if finding.against == ("live",)]


def promises() -> list[tuple[str, str, bool]]:
    """Return the cases of which the help says that RESTORE works, or that it does not, with their logs."""
    cases = []
    for case in all_questions():
        text = with_version_before(log_text(case))
        said = helps(text) if text is not None else []
        works = {each.startswith(RESTORES) for each in said if each.startswith(RESTORES) or REFUSES in each}
        if text is not None and len(works) == 1:
            cases.append((case, text, works.pop()))
    return cases


@pytest.mark.spark
def test_restore_does_what_the_help_says(spark: SparkSession, tmp_path: Path) -> None:
    wrong: dict[str, str] = {}
    asked = some_of_each(promises(), lambda case: (case[0].partition("/")[0], case[2]), 1)
    with listing_files(spark):
        for number, (case, text, works) in enumerate(asked):
            table = tmp_path / str(number)
            write_short_log(text, table)
            write_data_files(table)
            answer = _outcome(spark, f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0")
            if answer == ACCEPTED:
                answer = _outcome(spark, f"SELECT * FROM delta.`{table}`")
            if works != (answer == ACCEPTED):
                wrong[case] = answer
    assert wrong == {}
