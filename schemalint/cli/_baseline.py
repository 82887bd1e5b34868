"""``--baseline``, ``--write-baseline`` and ``--grow``."""

from __future__ import annotations

from pathlib import Path

import click

from schemalint.base.files import write_text
from schemalint.cli import print_note
from schemalint.cli._options import together
from schemalint.model.finding import CheckResult
from schemalint.review.baseline import Baseline
from schemalint.review.baseline_file import BaselineOptions, Reach, approved_by, baseline_after, with_unused

baseline_options = together(
    click.option("--baseline", metavar="FILE", help="Do not fail for the findings in this file"),
    click.option(
        "--write-baseline",
        is_flag=False,
        flag_value="",
        metavar="[FILE]",
        help="Write the findings to the baseline; from one that is there, only remove what is gone",
    ),
    click.option(
        "--grow", is_flag=True, help="With --write-baseline: add findings to a baseline that is there"
    ),
)
"""Add the options of the baseline."""


def written_baseline(
    result: CheckResult,
    baseline: Baseline | None,
    options: BaselineOptions,
    reach: Reach,
    file: Path | None = None,
) -> CheckResult:
    """Write the baseline that the run leaves, and return the result with what is unused in it.

    Raises:
        UsageError: The file cannot be written.
    """
    target = Path(options.write_baseline or options.baseline or file or "")
    if result.errors:
        print_note(f"note: {target} was not written, because the run is incomplete")
    else:
        baseline = baseline_after(result, baseline, reach, target, grow=options.grow)
        write_text(target, baseline.text)
        print_note(f"wrote {target}: findings in {len(baseline.entries)} entries")
        result = approved_by(result, baseline)
    if baseline is None:
        return result
    return with_unused(result, baseline, reach)
