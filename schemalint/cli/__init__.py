"""The command line: one module per command, imported when the command runs."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

import click

import schemalint
from schemalint.base import redaction
from schemalint.base.errors import InternalError, SchemalintError, UsageError
from schemalint.base.modules import module_names
from schemalint.base.untrusted_files import is_path
from schemalint.cli._output import (
    flush_streams,
    is_output_closed,
    prepare_streams,
    print_error,
    print_note,
    print_usage_error,
)

__all__ = ["cli", "flush_streams", "main", "print_error", "print_note", "report_bugs"]

INTERRUPTED = 130
BROKEN_PIPE = 141  # as a process that SIGPIPE ends
BUG = 3
COMPLETION: Final = "_SCHEMALINT_COMPLETE"
"""The variable in which click's scripts say what a shell asks for after the Tab key."""
USAGE = 2
_OF_THE_ACTION: Final = "action"
"""The only package here: it is started by itself."""


class _Commands(click.Group):
    """A command for each module of this package; modules with a leading underscore are none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return [name for name in module_names(sys.modules[__name__]) if name != _OF_THE_ACTION]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name[:1].isalnum() and name not in self.list_commands(ctx) and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{_command_meant(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


_OTHER_WORDS: Final = {
    **dict.fromkeys(("lint", "validate", "test", "verify"), "check"),
    **dict.fromkeys(("diff", "preview"), "plan"),
    **dict.fromkeys(("migrate", "deploy", "push", "run"), "apply"),
    **dict.fromkeys(("import", "generate"), "pull"),
    **dict.fromkeys(("describe", "inspect"), "show"),
    **dict.fromkeys(("rollback", "undo"), "revert"),
    **dict.fromkeys(("rule", "why"), "explain"),
}
"""The command by the word of other tools."""


def _command_meant(name: str, commands: list[str]) -> str:
    word = name.lower()
    close = [_OTHER_WORDS[word]] if word in _OTHER_WORDS else get_close_matches(word, commands, n=2)
    if close:
        return f" (Did you mean {' or '.join(map(repr, close))}?)"
    return ""


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 no findings, 1 findings, 2 could not complete, 3 bug in schemalint, "
    "4 changes pending.",
)
@click.version_option(schemalint.__version__, prog_name="schemalint", help="Show the version and exit")
@click.option("-C", "--directory", metavar="DIR", help="Run as if started in this directory")
def cli(directory: str | None) -> None:
    """Lint and apply the schemas of Delta Lake tables, declared in YAML."""
    try:
        if directory is not None:
            os.chdir(directory)
        os.getcwd()  # noqa: PTH109 (another process may have deleted it)
    except (OSError, ValueError) as error:
        if directory is None:
            raise UsageError("the working directory does not exist any more") from error
        raise UsageError(
            f"{directory} cannot be the directory: {getattr(error, 'strerror', error)}",
            help="see --directory",
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    redaction.hide_nothing()
    try:
        prepare_streams()
        _require_text(sys.argv[1:] if arguments is None else arguments)
        return int(cli.main(arguments, prog_name="schemalint", standalone_mode=False) or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        print_note("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        print_usage_error(error)
        return USAGE
    except SchemalintError as error:
        print_error(error)
        return error.exit_status
    except SystemExit as end:
        if COMPLETION in os.environ:  # a shell completes a command line
            return int(end.code or 0)
        # click exits with 1, the status of findings, when the reader closes the pipe (`| head`), and when the
        # other side closes a connection.
        if is_output_closed():
            return BROKEN_PIPE
        print_note("error: a connection was closed by the other side")
        return USAGE
    except ConnectionRefusedError:  # a process that a session talks to has ended, such as the JVM of Spark
        print_note("error: a connection was refused: the process at its other side, such as Spark, has ended")
        return USAGE
    except OSError as error:  # what the environment denies is no bug: a full disk, a missing folder, a limit
        what = error.filename or "the output cannot be written"
        print_note(f"error: {os.fsdecode(what)}: {error.strerror}")
        return USAGE
    except Exception as error:  # noqa: BLE001 the last resort: a bug is reported with its own exit status
        return _report_bug(error)


def _require_text(arguments: Sequence[str]) -> None:
    """Refuse arguments that no command line can have: they could name no file."""
    for argument in arguments:
        if not is_path(argument):
            raise UsageError(f"not a valid argument: {argument!r}")


def report_bugs(errors: Iterable[SchemalintError]) -> None:
    """Write a bug report for each error that a bug caused; the other tables were still processed."""
    for error in errors:
        if isinstance(error, InternalError) and error.__cause__ is not None:
            _report_bug(error.__cause__)


def _report_bug(error: BaseException) -> int:
    try:
        report = _bug_report(error)
    except OSError as failure:
        kind = type(error).__name__
        print_note(
            f"schemalint: a bug in schemalint ({kind}); its report cannot be written: {failure.strerror}"
        )
        return BUG
    print_note(f"schemalint: a bug in schemalint; please report it with {report}")
    return BUG


def _bug_report(error: BaseException) -> str:
    import tempfile  # noqa: PLC0415 (only after a crash)
    import traceback  # noqa: PLC0415

    with tempfile.NamedTemporaryFile(
        "w", prefix="schemalint-bug-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        trace = redaction.without_secrets("".join(traceback.format_exception(error)))
        file.write(f"schemalint {schemalint.__version__}, Python {sys.version}\n\n{trace}")
    return file.name
