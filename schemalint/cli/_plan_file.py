"""``apply --plan FILE``: the file, and the configuration that counts for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from schemalint.base.errors import UsageError
from schemalint.cli._settings import settings_without_contracts
from schemalint.cli._typed import Connection
from schemalint.deploy.approvals import require_hashes
from schemalint.deploy.journal import JournalInput
from schemalint.deploy.options import DeployOptions
from schemalint.deploy.plan_file import read_plan_file
from schemalint.project.git import Repository, resolve
from schemalint.tables.catalog.table_location import choose_target

_OF_PLANNING: Final = (
    *("head", "base", "allow", "allow_older", "repair_drift", "reorder", "cosmetic", "after"),
)
"""The options that only choose what is planned: a plan file says it already."""

_COMMIT: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def require_no_planning() -> None:
    """Refuse options of the running command that have no effect on a plan file."""
    context = click.get_current_context()
    for name in _OF_PLANNING:
        if name in context.params and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} has no effect with --plan", help=f"plan --out with {option}")


def opened_plan_file(
    path: str, revision: str | None, options: DeployOptions, connection: Connection
) -> JournalInput:
    """Return the input of ``apply --plan``; it has no catalog of a session yet.

    Raises:
        SchemalintError: The file is not a plan, no configuration counts, or the revision is unknown.
    """
    file = read_plan_file(path)
    repository, settings = settings_without_contracts(connection)
    return JournalInput(
        file,
        path,
        settings,
        choose_target(settings, options.target or file.target),
        Path.cwd() if repository is None or repository.bare else repository.root,
        approved=require_hashes(options.approved),
        tables=options.tables,
        revision=None if revision is None else _confirmed(revision, repository),
        require_streams=options.require_streams,
    )


def _confirmed(revision: str, repository: Repository | None) -> str:
    """Return the full id of a commit; without git the user must give it.

    Raises:
        UsageError: The text is no full id of a commit, or git reads no revision in it.
        MissingHistoryError: The repository has no such commit.
    """
    if repository is not None:
        return resolve(repository, revision)
    if not _COMMIT.fullmatch(revision):
        raise UsageError(f"--revision {revision} is not the full id of a commit", help="git rev-parse HEAD")
    return revision
