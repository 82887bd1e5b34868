"""Keep the learned inputs that reach lines which no seed and no kept input reaches.

``python -m fuzz.keep`` copies them from ``.fuzz/`` to ``tests/fuzz/corpora/``, the smallest first.
"""

from __future__ import annotations

import contextlib
import sys
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fuzz.run import CORPORA, LEARNED
from fuzz.targets import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

Line = tuple[str, int]

LARGEST: Final = 8_000
"""Bytes of an input that is kept."""


def main() -> None:
    """Copy the inputs of the given targets, or of all."""
    for name in sys.argv[1:] or NAMES:
        print(f"{name}: {keep(name)} more inputs", flush=True)


def keep(name: str) -> int:
    """Copy the inputs of a target, and return their number."""
    target, folder = import_module(f"fuzz.targets.{name}"), CORPORA / name
    known = [*target.seeds(), *(path.read_bytes() for path in _inputs(folder))]
    reached = {line for data in known for line in _lines(target.run, data)}
    number = 0
    for path in _inputs(LEARNED / name):
        new = _lines(target.run, data := path.read_bytes()) - reached
        if new:
            folder.mkdir(exist_ok=True)
            (folder / sha256(data).hexdigest()[:12]).write_bytes(data)
            reached |= new
            number += 1
    return number


def _inputs(folder: Path) -> list[Path]:
    found = [path for path in folder.glob("*") if path.stat().st_size <= LARGEST]
    return sorted(found, key=lambda path: (path.stat().st_size, path.name))


def _lines(run: Callable[[bytes], None], data: bytes) -> set[Line]:
    found: set[Line] = set()

    def of_frame(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 (itself)
        found.add((frame.f_code.co_filename, frame.f_lineno))
        return of_frame

    def of_call(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 (as above)
        return of_frame if "/schemalint" in frame.f_code.co_filename else None

    sys.settrace(of_call)
    try:
        # an input that shows a bug is kept in its own way
        with contextlib.suppress(Exception):
            run(data)
    finally:
        sys.settrace(None)
    return found


if __name__ == "__main__":
    main()
