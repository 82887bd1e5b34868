"""The options for tables that other tools declare in files of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from schemalint.base.values import frozen
from schemalint.cli import print_note
from schemalint.cli._options import together
from schemalint.cli._typed import ReportOptions
from schemalint.project import git
from schemalint.review.sides import Sides

if TYPE_CHECKING:
    from schemalint.project.git import Contents
    from schemalint.review.declared_tables import DeclaredTables


@frozen
class DeclarationsOptions:
    """The files that say what tables were and are: ``FORMAT:FILE``."""

    base_from: str | None
    head_from: str | None


declarations_options = together(
    click.option(
        "--base-from", metavar="FORMAT:FILE", help="Base of the tables in a file of another tool: dbt:FILE"
    ),
    click.option(
        "--head-from", metavar="FORMAT:FILE", help="Head of these tables, instead of the configured file"
    ),
)
"""``--base-from`` and ``--head-from``."""


def tables_of_other_tools(
    sides: Sides, options: DeclarationsOptions, report: ReportOptions
) -> DeclaredTables | None:
    """Return the tables in files of other tools, and say what of these is not compared; None without any."""
    deciding, files = sides.deciding, (options.base_from, options.head_from)
    if files == (None, None) and not any(config.declarations for config in deciding):
        return None
    from schemalint.review.declared_tables import declared_tables  # noqa: PLC0415 (only with such files)

    is_ci = git.is_ci(os.environ)
    tables = declared_tables(sides.repository, sides.base, sides.head, deciding, files, is_ci=is_ci)
    if tables is not None and not report.quiet:
        for note in tables.notes:
            print_note(note)
    return tables


def with_additions(declared: DeclaredTables | None, contents: Contents) -> DeclaredTables | None:
    """Return the tables with what contracts add to them (``extends``)."""
    if declared is None:
        return None
    from schemalint.review.declared_tables import with_overlays  # noqa: PLC0415 (only with such files)

    return with_overlays(declared, contents)
