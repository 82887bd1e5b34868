"""Packages of npm for tests, installed once into a cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from support.skipping import skip_or_fail

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schemalint-tests"


def installed(package: str, whose: str) -> Path:
    """Install a package, and return the ``node_modules`` with it and what it needs.

    Args:
        package: The package with its version: ``azurite@3.35.0``.
        whose: What needs Node.js, for the message without it.
    """
    missing = [program for program in ("node", "npm") if not shutil.which(program)]
    if missing:
        skip_or_fail(f"{whose} need Node.js and npm: {', '.join(missing)} is not on the PATH")
    home = CACHE / package.strip("@").replace("/", "-").replace("@", "-")
    if not home.exists():
        _install(package, home)
    return home / "node_modules"


def _install(package: str, home: Path) -> None:
    """Install into a temporary folder, renamed when complete: other workers may install it too."""
    home.parent.mkdir(parents=True, exist_ok=True)
    temporary_folder = home.with_name(f"{home.name}.{os.getpid()}.{time.monotonic_ns()}")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(temporary_folder)]
    process = subprocess.run([*npm, package], capture_output=True, text=True, check=False)
    if process.returncode:
        shutil.rmtree(temporary_folder, ignore_errors=True)
        skip_or_fail(f"npm could not install {package}: {process.stderr[-500:]}")
    try:
        temporary_folder.rename(home)
    except OSError:  # another worker was faster
        shutil.rmtree(temporary_folder)
