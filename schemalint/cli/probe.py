"""``schemalint probe``."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemalint.cli._options import examples
from schemalint.cli._output import print_note, show
from schemalint.errors import UsageError
from schemalint.files import temporary_folder
from schemalint.probe.asking import Answer, about, ask_command, ask_recipe
from schemalint.probe.recipes import recipe_file, recipe_names
from schemalint.probe.rows import Reader, client_rows, disagreements
from schemalint.probe.tables import all_tables
from schemalint.probe.writing import write_table
from schemalint.report import probe as report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.probe.asking import Places

DIFFERS = 1


@click.command(
    "probe",
    epilog=examples(
        "schemalint probe --tables probed",
    ),
)
@click.option("--engine", metavar="COMMAND", help="Reader to ask; {path} in it is the path of a table")
@click.option("--recipe", type=click.Choice(recipe_names()), help="Known reader to ask")
@click.option("--python", default="", metavar="PROGRAM", help="Python that has the recipe's reader")
@click.option("--client", metavar="NAME", help="Name of the reader in the client table")
@click.option("--client-version", metavar="VERSION", help="Version of the reader")
@click.option(
    "--read-path", "read_paths", multiple=True, metavar="NAME", help="Read paths to ask; default: all"
)
@click.option("--tables", "folder", metavar="DIR", help="Write the tables here, and keep them")
@click.option("--location", metavar="URI", help="Where the reader finds the folder of --tables")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for each run of the reader",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "toml", "yaml"]),
    default="text",
    show_default=True,
    help="Format: text for people; rows for schemalint.toml, or for a file of the client table",
)
@click.option("--compare", is_flag=True, help="Compare with the client table; status 1 where it differs")
def command(folder: str | None, location: str | None, **options: Any) -> int:  # noqa: ANN401
    """Ask a reader which forms of tables it can read.

    It writes small tables, each with one feature, one type change or one form of the protocol, and runs the
    reader on each. A reader prints the rows of a table as JSON, as a list of objects or one object per line,
    and exits with another status than 0 if it refuses. The verdict is ok, refuses, wrong (other rows or
    NULLs, without an error) or unknown (it crashed or did not end).

    The command runs as it is given, without a shell, and as you: probe only readers that you trust.
    A reader that cannot see this machine's files needs two steps: with --tables alone the tables are only
    written; copy them, and name the copy by --location.
    """
    if bool(options["engine"]) == bool(options["recipe"]) and (options["engine"] or folder is None):
        raise UsageError("--engine or --recipe is needed", help="or --tables alone, to write the tables only")
    if location is not None and folder is None:
        raise UsageError("--location needs --tables", help="name the folder whose copy it is")
    with nullcontext(Path(folder)) if folder else temporary_folder() as root:
        places = list(_write_tables(root.absolute(), location))
        if not options["engine"] and not options["recipe"]:
            print_note(f"{len(places)} tables written to {folder}")
            return 0
        readers = _from_recipe(places, **options) if options["recipe"] else _from_engine(places, **options)
        return max([_report(reader, list(answers), **options) for reader, answers in readers], default=0)


def _write_tables(root: Path, location: str | None) -> Iterator[tuple[Any, str]]:
    for table in all_tables():
        write_table(table, root / table.name)
        yield table, f"{location.rstrip('/')}/{table.name}" if location else str(root / table.name)


def _from_engine(places: Places, **options: Any) -> Iterator[tuple[Reader, Iterable[Answer]]]:  # noqa: ANN401
    try:
        words = shlex.split(options["engine"])
    except ValueError as error:
        raise UsageError(f"--engine is not a command: {error}", help="quote it as for a shell") from error
    if not any("{path}" in word for word in words[1:]):
        raise UsageError("--engine does not use the path", help="write {path}: --engine 'cmd {path}'")
    if (options["compare"] or options["output_format"] != "text") and not (
        options["client"] and options["client_version"]
    ):
        raise UsageError("rows of the client table need --client and --client-version")
    (read_path,) = options["read_paths"] or ("",)
    reader = Reader(options["client"] or words[0], options["client_version"] or "", read_path)
    yield reader, ask_command(words, places, options["timeout"])


def _from_recipe(places: Places, **options: Any) -> Iterator[tuple[Reader, Iterable[Answer]]]:  # noqa: ANN401
    file, python, seconds = recipe_file(options["recipe"]), options["python"], options["timeout"]
    found = about(file, python, seconds)
    for read_path in options["read_paths"] or found.read_paths:
        if read_path not in found.read_paths:
            known = ", ".join(found.read_paths)
            raise UsageError(f"{options['recipe']} {found.version} has no read path {read_path}", help=known)
        reader = Reader(options["client"] or options["recipe"], found.version, read_path)
        yield reader, ask_recipe(file, python, read_path, places, seconds)


def _report(
    reader: Reader, answers: list[Answer], *, compare: bool, output_format: str, **_rest: object
) -> int:
    differs = disagreements(reader, answers) if compare else {}
    rows = client_rows(reader, answers, datetime.now(UTC).date().isoformat())
    match output_format:
        case "toml":
            show(report.as_toml(reader.client, rows))
        case "yaml":
            show(report.as_yaml(rows))
        case _:
            show(report.as_text(str(reader), answers, differs))
    return DIFFERS if differs else 0
