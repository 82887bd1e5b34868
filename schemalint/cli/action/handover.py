"""What a step leaves in its folder for ``action/run.sh``, which hands it to GitHub's runner."""

from __future__ import annotations

from pathlib import Path

from schemalint.base.files import write_text
from schemalint.base.printable import annotation


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
