"""An edited text as a person sees it, and as another reader of YAML reads it."""

from __future__ import annotations

import difflib
from typing import Final

_NO_FILE: Final = "/dev/null"


def unified_diff(file: str, before: str | None, after: str) -> str:
    """What changes in a file, as a unified diff; all of it where there was none before."""
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        after.splitlines(keepends=True),
        _NO_FILE if before is None else f"a/{file}",
        f"b/{file}",
    )
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def read_by_another(text: str) -> None:
    """A second opinion; the imports cost too much for a run that edits nothing."""
    from ruamel.yaml import YAML  # noqa: PLC0415

    list(YAML(typ="safe", pure=True).load_all(text))
