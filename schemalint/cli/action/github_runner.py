"""What a step of the Action gets from GitHub's runner, and leaves for ``action/run.sh`` to hand over."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from schemalint.base.errors import UsageError
from schemalint.base.files import write_text
from schemalint.base.printable import annotation
from schemalint.base.values import frozen

LIVE: Final = ("off", "auto", "required")
COMMENT: Final = ("auto", "off")


@frozen
class Inputs:
    """What the workflow gives ``with``.

    Attributes:
        directory: The folder of the contracts.
        shown_directory: The same as the workflow writes it.
        live: One of `LIVE`.
        target: The target, or empty.
        comment: One of `COMMENT`.
        comment_id: What tells this comment from others, or empty.
        options: The options of ``check`` and ``plan``.
        fail_on: The lowest severity that fails the step, or empty.
    """

    directory: Path
    shown_directory: str
    live: str
    target: str
    comment: str
    comment_id: str
    options: tuple[str, ...]
    fail_on: str


def read_inputs(env: Mapping[str, str]) -> Inputs:
    """Return the inputs.

    Raises:
        UsageError: One of them is not valid.
    """
    shown = env["INPUT_WORKING_DIRECTORY"]
    against = env["INPUT_AGAINST"]
    refs = re.split(r"[\s,]+", env["INPUT_TRUSTED_REFS"])
    return Inputs(
        directory=_directory(env["GITHUB_WORKSPACE"], shown),
        shown_directory=shown,
        live=_choice("live", env["INPUT_LIVE"], LIVE),
        target=env["INPUT_TARGET"],
        comment=_choice("comment", env["INPUT_COMMENT"], COMMENT),
        comment_id=env["INPUT_COMMENT_ID"],
        options=(
            *("--fetch", "--color=never"),
            *([f"--against={against}"] if against else []),
            *(f"--trusted-ref={ref}" for ref in refs if ref),
        ),
        fail_on=env["INPUT_FAIL_ON"],
    )


def _directory(workspace: str, shown: str) -> Path:
    """Return the folder; a pull request can turn it into a link, for example to another job's clone."""
    try:
        top = Path(workspace).resolve(strict=True)
        folder = (top / shown).resolve(strict=True)
    except (OSError, ValueError):
        folder = None
    if folder is None or not folder.is_dir() or not folder.is_relative_to(top):
        raise UsageError("The input working-directory must name a folder of the workspace")
    return folder


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise UsageError(f"The input {name} must be one of {', '.join(choices)}, and is {value!r}")
    return value


class Handover:
    """The log, the outputs and the summary of a step.

    Attributes:
        folder: The folder of the use of the Action, which both steps share.
        log: What the log shows, made by `schemalint.base.printable`.
        outputs: The outputs, each on one line.
        summary: What the job's page shows, in Markdown.
    """

    def __init__(self, folder: Path, step: str) -> None:
        self.folder = folder
        self.log: list[str] = []
        self.outputs: dict[str, str] = {}
        self.summary: list[str] = []
        self._step = step

    def annotate(self, kind: str, text: str) -> None:
        """Show a line on the job's page: an ``error``, a ``warning`` or a ``notice``."""
        self.log.append(annotation(kind, {"title": "schemalint"}, [text]))

    def write(self) -> None:
        """Write the files."""
        outputs = "".join(f"{name}={value}\n" for name, value in self.outputs.items() if value.isprintable())
        self._write("log", "".join(self.log))
        self._write("outputs", outputs)
        self._write("summary", "\n\n".join(self.summary) + "\n" if self.summary else "")

    def _write(self, name: str, text: str) -> None:
        write_text(self.folder / f"{self._step}.{name}", text)
