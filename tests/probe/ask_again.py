"""Ask the readers again that the client table's rows were measured with: ``make probe``.

Each version gets a virtual environment of its own, in a temporary folder, from the package index. The
versions are those that the evidence ``run`` of the rows names.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from schemalint.clients.table import file_data
from schemalint.probe.recipes import recipe_names

PACKAGES = {
    "daft": ["daft=={}", "deltalake==1.6.6"],
    "delta-spark": ["delta-spark=={}"],
    "deltalake": ["deltalake=={}", "pyarrow<22"],
    "duckdb": ["duckdb=={}", "duckdb-extension-delta=={}"],
    "polars": ["polars=={}", "deltalake==1.6.6", "pyarrow"],
}
# Before 0.19 deltalake needs an older pyarrow than its metadata say.
OLD = {"deltalake": ((0, 19), ["deltalake=={}", "pyarrow<15", "numpy<2"])}


def packages(client: str, version: str) -> list[str]:
    """Return what to install to run a version of a client."""
    before, old = OLD.get(client, ((), []))
    chosen = old if tuple(map(int, version.split("."))) < before else PACKAGES[client]
    return [package.format(version) for package in chosen]


def versions_run(client: str) -> list[str]:
    """Return the versions that the rows of a client were measured with, the oldest first."""
    texts = [row["evidence"].get("run", "") for row in file_data(client)["rows"]]
    found = {version for text in texts for version in re.findall(r"\d+(?:\.\d+)+", text)}
    return sorted(found, key=lambda version: [int(part) for part in version.split(".")])


def main() -> int:
    """Return the number of versions for which the table says something else, or that cannot be asked."""
    failed = 0
    for client in recipe_names():
        for version in versions_run(client):
            with tempfile.TemporaryDirectory() as folder:
                venv.create(folder, with_pip=True)
                python = str(Path(folder, "bin", "python"))
                pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
                install = [*pip, *packages(client, version)]
                probe = ["probe", "--recipe", client, "--python", python, "--timeout", "900", "--compare"]
                for command in (install, [sys.executable, "-m", "schemalint", *probe]):
                    if subprocess.run(command, check=False).returncode:
                        failed += 1
                        break
    return failed


if __name__ == "__main__":
    sys.exit(main())
