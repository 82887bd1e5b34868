"""How the process of a command ends: at once, after everything that was registered for its end."""

from __future__ import annotations

import subprocess
import sys

# The command registers a function for the end, as pyspark does, and prints less than a buffer holds.
PROGRAM = """
import atexit
import sys

import schemalint.cli
from schemalint.__main__ import run


class Freed:
    def __del__(self):
        sys.stderr.write("freed")


def main():
    Freed.kept = Freed()
    atexit.register(sys.stdout.write, "ended")
    sys.stdout.write("output, ")
    {end}


schemalint.cli.main = main
run()
"""


def ended(end: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends so."""
    command = [sys.executable, "-c", PROGRAM.format(end=end)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_end_runs_what_is_registered_and_frees_no_objects() -> None:
    process = ended("return 4")
    assert (process.returncode, process.stdout, process.stderr) == (4, "output, ended", "")


def test_an_exception_that_no_command_expects_ends_as_python_does() -> None:
    process = ended("raise MemoryError")
    assert (process.returncode, process.stdout) == (1, "output, ended")
    assert "MemoryError" in process.stderr
