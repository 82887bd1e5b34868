"""Repositories with many contracts and a long history, and their tables as earlier runs left them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from schemalint import contract as contracts
from support.logs import commit_info, marker, metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from support.repo import Repo

COMMITS = 120
"""Commits of the history, whatever the number of tables: each changes one contract, the newest one none."""

TableState: TypeAlias = Literal["new", "unmarked", "behind", "declared"]


def write_tables(repo: Repo, number: int, state: TableState) -> None:
    """Commit contracts of ``s.t0``, ``s.t1`` … with a history, and write the logs of their tables.

    A table that is behind, or has no marker, is as its contract was before its last change.
    """
    newest = dict.fromkeys(range(number), 0)  # by contract, the number of the last commit that changed it
    files = {f"contracts/t{index}.yml": _text(index, 0) for index in newest}
    stream = [
        _commit({"schemalint.toml": '[targets.dev]\nroot = "lake"\n', ".gitignore": "lake/\n", **files})
    ]
    older = dict(newest)
    for step in range(1, COMMITS - 1):
        index = step % number
        older[index], newest[index] = newest[index], step
        stream.append(_commit({f"contracts/t{index}.yml": _text(index, step)}))
    stream.append(_commit({"README.md": "The newest commit.\n"}))
    repo.git("fast-import", "--quiet", stdin="".join(stream).encode())
    repo.git("reset", "--quiet", "--hard", "main")
    commits = repo.git("rev-list", "--reverse", "main").split()
    for index in newest if state != "new" else ():
        step = newest[index] if state == "declared" else older[index]
        _write_log(
            repo.path / f"lake/s/t{index}", index, step, None if state == "unmarked" else commits[step]
        )


def _write_log(table: Path, index: int, step: int, revision: str | None) -> None:
    table_id = f"id-{index}"
    (contract,) = contracts.read("t.yml", _text(index, step)).contracts
    created = metadata(*contract.state.columns.fields, table_id=table_id)
    marked = [] if revision is None else [marker(_text(index, step), revision)]
    write_log(table, [[commit_info("CREATE TABLE"), protocol(1, 2), created, *marked]])


def _text(index: int, step: int) -> str:
    return f"schemalint: 1\ntable: s.t{index}\ncolumns:\n  - {{name: id, type: int, comment: v{step}}}\n"


def _commit(files: dict[str, str]) -> str:
    """Return a commit for ``git fast-import``."""
    changes = "".join(
        f"M 644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()
    )
    return f"commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 1\nc\n{changes}\n"
