"""Packages of npm for tests, installed once into a cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from support.installing import CACHE, install_once
from support.skipping import skip_or_fail

_NO_ANSWER_SECONDS: Final = 50
_AT_MOST_SECONDS: Final = 600  # a slow machine that gets answers


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
        install_once(home, lambda: _install(package, home))
    return home / "node_modules"


def _install(package: str, home: Path) -> str:
    """Install into a temporary folder, renamed when complete; return why that is not possible."""
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        made = Path(folder) / "made"
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(made)]
        # By default npm waits 5 minutes for each answer, three times.
        command += ["--fetch-retries=0", f"--fetch-timeout={_NO_ANSWER_SECONDS * 1000}", package]
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_AT_MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"npm could not install {package} in {_AT_MOST_SECONDS // 60} minutes"
        if process.returncode:
            return f"npm could not install {package}: {process.stderr[-500:]}"
        made.rename(home)
    return ""
