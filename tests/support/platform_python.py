"""A Python as a platform has it: with ``schemalint[live]``, and without pyspark and delta-spark."""

from __future__ import annotations

import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement


def platform_python(folder: Path) -> Path:
    """Make a virtual environment with nothing but the packages of ``schemalint[live]``; return its Python.

    The packages are those of this environment, linked: nothing is downloaded.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in _with_dependencies(Requirement("schemalint[live]"), set()):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(found.locate_file(top))))
    return folder / "bin/python"


def _with_dependencies(wanted: Requirement, seen: set[str]) -> set[str]:
    seen.add(wanted.name)
    for text in distribution(wanted.name).requires or ():
        needed = Requirement(text)
        extras = [{"extra": extra} for extra in (wanted.extras or {""})]
        is_needed = needed.marker is None or any(needed.marker.evaluate(extra) for extra in extras)
        if is_needed and needed.name not in seen:
            _with_dependencies(needed, seen)
    return seen
