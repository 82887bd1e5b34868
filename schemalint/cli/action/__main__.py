"""Run a step: ``python -I -m schemalint.cli.action check|comment FOLDER``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from schemalint.base.errors import InternalError, SchemalintError
from schemalint.cli import report_bugs
from schemalint.cli.action.check_step import check_step
from schemalint.cli.action.comment_step import comment_step
from schemalint.cli.action.github_runner import Handover

_STEPS = {"check": check_step, "comment": comment_step}


def main(step: str, folder: Path) -> int:
    """Run a step; return its exit status."""
    handover = Handover(folder, step)
    try:
        status = _STEPS[step](handover, os.environ)
    except SchemalintError as error:
        handover.annotate("error", f"{error.message}; {error.help}" if error.help else error.message)
        status = error.exit_status
    except Exception as error:  # noqa: BLE001 (a bug has its own exit status, and no traceback in a public log)
        bug = InternalError(f"{type(error).__name__} in the step {step}")
        bug.__cause__ = error
        report_bugs([bug])
        status = bug.exit_status
    if step == "check":
        handover.outputs["exit-status"] = str(status)
    handover.write()
    # The verdict is that of the check. A comment is a report of it.
    return status if step == "check" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
