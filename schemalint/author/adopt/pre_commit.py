"""The hook of pre-commit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from schemalint.author.adopt.changes import FileChange, Left, read_existing

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.author.adopt.source import Source

FILE: Final = ".pre-commit-config.yaml"
_HOOK: Final = "schemalint-check"


def hook_change(root: Path, source: Source) -> FileChange | Left:
    """Return pre-commit's configuration, or the item to add to the one that is there.

    Raises:
        UsageError: It cannot be read.
    """
    file, item = root / FILE, _item(source)
    text = read_existing(file)
    if text is None:
        indented = "".join(f"  {line}\n" for line in item.splitlines())
        return FileChange(file, f"repos:\n{indented}")
    if _HOOK in text:
        return Left(file, f"it has {_HOOK} already")
    return Left(file, "add this to its list `repos`", item)


def _item(source: Source) -> str:
    if source.repository is not None:
        return (
            f"- repo: {source.repository}\n"
            f"  rev: {json.dumps(source.revision)}\n"
            "  hooks:\n"
            f"    - id: {_HOOK}\n"
        )
    # The same as in .pre-commit-hooks.yaml, which only the git repository has.
    return f"""\
- repo: local
  hooks:
    - id: {_HOOK}
      name: schemalint (check contracts)
      entry: schemalint check --head index --allow-none
      language: python
      additional_dependencies: [{json.dumps(source.requirement)}]
      always_run: true
      pass_filenames: false
      stages: [pre-commit, pre-push]
      minimum_pre_commit_version: 3.2.0
"""
