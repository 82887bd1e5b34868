"""The reports of a run: in several formats at once, each printed or written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from schemalint.base.errors import UsageError
from schemalint.base.printable import terminal_text
from schemalint.base.values import frozen
from schemalint.cli._completion import report_formats
from schemalint.cli._options import FAIL_ON, color_option, is_colored, together, write_report
from schemalint.cli._output import is_terminal, print_note, show
from schemalint.cli._typed import ReportOptions
from schemalint.model.finding import CheckResult, Severity
from schemalint.plugin import Rule
from schemalint.project.git import Contents
from schemalint.report import findings as reports

if TYPE_CHECKING:
    from schemalint.review.sides import Sides


_FOR_PEOPLE: Final = ("concise", "full")


@frozen
class Output:
    """A report to make.

    Attributes:
        name: The name of its format.
        style: The module of its format.
        file: The file to write; None prints the report.
    """

    name: str
    style: reports.Format
    file: str | None = None


report_options = together(
    click.option("--fail-on", type=click.Choice([*FAIL_ON]), help="Lowest severity that fails the run"),
    click.option(
        "--output-format",
        "output_formats",
        multiple=True,
        envvar="SCHEMALINT_OUTPUT_FORMAT",
        show_envvar=True,
        default=("full",),
        show_default=True,
        metavar="FORMAT[:FILE]",
        shell_complete=report_formats,
        help="Format of the report, and the file to write it to; may be repeated: "
        f"{', '.join(reports.names())}",
    ),
    click.option("--statistics", is_flag=True, help="Count the findings by rule on stderr"),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but findings and errors"),
    click.option("-v", "--verbose", is_flag=True, help="Log base, head, configuration and rules to stderr"),
    color_option,
)
"""Add the options that set when findings fail the run, and how they are reported."""


def outputs_of(options: ReportOptions) -> tuple[Output, ...]:
    """Return the reports that the options ask for: a format, or a format and a file (``sarif:out.sarif``).

    Raises:
        UsageError: A format is unknown, or two reports have one destination.
    """
    outputs = tuple(_output(value) for value in options.output_formats)
    files = Counter(output.file and Path(output.file).absolute() for output in outputs)
    for file, number in files.items():
        if number > 1:
            where = "are printed" if file is None else f"are written to {file}"
            raise UsageError(
                f"{number} reports {where}", help="give each its own file: --output-format FORMAT:FILE"
            )
    return outputs


def _output(value: str) -> Output:
    name, colon, file = value.partition(":")
    if colon and not file:
        raise UsageError(f"--output-format {value} names no file", help=f"write {value}FILE or {name}")
    return Output(name, reports.get(name), file or None)


def write_reports(
    result: CheckResult,
    outputs: tuple[Output, ...],
    options: ReportOptions,
    *,
    show_existing: bool = False,
    err: bool = False,
) -> None:
    """Print and write the reports; a file that cannot be written keeps no other report from being made.

    Raises:
        UsageError: A file cannot be written.
    """
    faults = []
    run = result.run
    nothing = options.quiet and run.compared and not (run.skipped or result.counted or result.errors)
    for output in outputs:
        if nothing and output.file is None and output.name in _FOR_PEOPLE:
            continue
        colored = is_colored(options.color, output.file, err=err)
        text = output.style.render(result, color=colored, show_existing=show_existing)
        try:
            write_report(text, output.file, err=err, color=colored or None)
        except UsageError as fault:
            faults.append(fault)
    if options.statistics:
        show(terminal_text(statistics_lines(result)), err=True)
    worst = max(result.counted, key=lambda finding: finding.severity, default=None)
    if (
        worst
        and not err
        and is_terminal()
        and any(output.name == "full" and not output.file for output in outputs)
    ):
        print_note(f"schemalint explain {worst.code} says why, and what to do")
    if faults:
        raise faults[0]


def statistics_lines(result: CheckResult) -> list[str]:
    """Count the findings that count by rule and severity, the most frequent first."""
    counts: Counter[tuple[str, str, Severity]] = Counter(
        (finding.code, finding.rule, finding.severity) for finding in result.counted
    )
    width = len(str(max(counts.values(), default=0)))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], -item[0][2], item[0]))
    return [
        f"{number:>{width}}  {code}  {severity.label:<7}  {rule}" for (code, rule, severity), number in ranked
    ] or ["no findings to count"]


def log_run(sides: Sides, contents: Contents, rules: Sequence[Rule]) -> None:
    """Say what the run reads."""
    base, head = sides.base, sides.head
    changed = sum(
        file.data != old.data if (old := contents.base.get(path)) else True
        for path, file in contents.head.items()
    )
    files = dict.fromkeys(config.file for config in sides.deciding)
    for line in (
        f"base: {base.commit or base.spec}, {base.why}",
        f"head: {head.commit or head.spec}, {head.why}",
        f"configuration: {', '.join(filter(None, files)) or 'none'}",
        f"contract files: {len(contents.head):,}, {changed:,} changed or new",
        f"rules: {len(rules):,}",
    ):
        print_note(line)
