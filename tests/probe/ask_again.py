"""Ask the readers again that the client table's rows were measured with: ``make probe``.

Each version gets a virtual environment of its own, in a temporary folder, from the package index. The
versions are those that the evidence ``run`` of the rows names. ``python -m probe.ask_again CLIENT [PYTHON]``
asks one reader, that of a Python which has it, and prints the rows for its file of the client table.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from probe.asking import Answer, Places, about, ask_recipe
from probe.recipes import recipe_file, recipe_names
from probe.rows import Reader, client_rows, disagreements
from probe.tables import all_tables
from probe.writing import write_table
from schemalint.base.errors import UsageError
from schemalint.clients.client_table import file_data

SECONDS = 900.0
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


def written_tables(root: Path) -> Places:
    """Write all tables below a folder; return them with their paths."""
    places = [(table, str(root / table.name)) for table in all_tables()]
    for table, place in places:
        write_table(table, Path(place))
    return places


def answers(client: str, python: str, places: Places) -> Iterator[tuple[Reader, list[Answer]]]:
    """Ask a reader by each of its read paths.

    Raises:
        UsageError: The recipe does not run with that Python, or the reader does not read the plain table.
    """
    recipe = recipe_file(client)
    asked = about(recipe, python, SECONDS)
    for read_path in asked.read_paths:
        reader = Reader(client, asked.version, read_path)
        yield reader, list(ask_recipe(recipe, python, read_path, places, SECONDS))


def ask_again(client: str, version: str, places: Places) -> bool:
    """Install a version of a client and ask it; return whether the client table says the same."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, *packages(client, version)], check=False).returncode:
            return False
        agrees = True
        for reader, given in answers(client, python, places):
            differs = disagreements(reader, given)
            print(f"{reader}: {len(given)} tables, {len(differs)} other than in the client table")
            for answer in given:
                if known := differs.get(answer.table.name):
                    print(f"  {answer.verdict.value:<8} {answer.table.name}: {answer.detail} [{known.value}]")
            agrees &= not differs
        return agrees


def main(arguments: list[str]) -> int:
    """Return the number of versions for which the table says something else, or that cannot be asked."""
    with tempfile.TemporaryDirectory() as folder:
        places = written_tables(Path(folder))
        if arguments:
            client, python = arguments if len(arguments) > 1 else (arguments[0], sys.executable)
            for reader, given in answers(client, python, places):
                for row in client_rows(reader, given, datetime.now(UTC).date().isoformat()):
                    print(f"  - {json.dumps(row)}")  # JSON is YAML too
            return 0
        failed = 0
        for client in recipe_names():
            for version in versions_run(client):
                try:
                    failed += not ask_again(client, version, places)
                except UsageError as error:
                    print(f"{client} {version}: {error}")
                    failed += 1
        return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
