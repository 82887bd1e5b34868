"""``check --fix`` and ``--diff`` in processes: what is written, and what is left when something fails."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import metadata, protocol, write_log
from support.project import ORDERS, Project
from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = ("contracts/a.yml", "contracts/b.yml", "contracts/c.yml")
WIDER = ("decimal(10,2)", "decimal(12,2)")
RECORDED = "type_changes:"
IGNORED = ("--ignore", "PF004,TW010")


def _contract(file: str) -> str:
    return ORDERS.replace("sales.orders", f"sales.{file[-5]}")


@pytest.fixture
def widened(project: Project) -> Project:
    """A project with three contracts, each with a change that `--fix` completes."""
    for file in FILES:
        project.declare(_contract(file), file)
    project.repo.commit()
    for file in FILES:
        project.declare(_contract(file).replace(*WIDER), file)
    return project


def _fix(
    project: Project,
    *options: str,
    limit: Callable[[], None] | None = None,
    code: str = "from schemalint.__main__ import run; run()",
) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-c", code, "check", "--fix", "--output-format", "concise", *IGNORED, *options)
    return subprocess.run(
        command,
        cwd=project.repo.path,
        # Python keeps compiled modules that a limit cut short, and each later process stumbles over them.
        env={**project.repo.env, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )


def _fixed(project: Project) -> list[str]:
    """Return the files that are fixed; the others must be as they were."""
    texts = {file: (project.repo.path / file).read_text() for file in FILES}
    fixed = [file for file, text in texts.items() if RECORDED in text]
    assert [file for file, text in texts.items() if text != _contract(file).replace(*WIDER)] == fixed
    return fixed


def _without_privileges() -> None:
    """Take from root what lets it write read-only files, once the next program starts."""
    if os.geteuid() == 0:
        for capability in range(4):  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
            if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise PermissionError


@pytest.fixture
def unprivileged() -> Callable[[], None]:
    """What makes a new process one that has to obey the modes of files."""
    try:
        subprocess.run(["true"], check=True, preexec_fn=_without_privileges)
    except subprocess.SubprocessError:
        skip_or_fail("root cannot give up its privileges here")
    return _without_privileges


def _small_disk() -> None:
    """Let a write fail after a part is written, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (250, 250))


def test_all_files_are_fixed_and_keep_their_modes(widened: Project) -> None:
    modes = dict(zip(FILES, (0o600, 0o755, 0o664), strict=True))
    for file, mode in modes.items():
        (widened.repo.path / file).chmod(mode)
    process = _fix(widened)
    assert (process.returncode, process.stderr) == (0, "".join(f"fixed {file}\n" for file in FILES))
    assert _fixed(widened) == list(FILES)
    assert {file: (widened.repo.path / file).stat().st_mode & 0o777 for file in FILES} == modes


def test_a_read_only_file_stays_and_the_others_are_fixed(
    widened: Project, unprivileged: Callable[[], None]
) -> None:
    (widened.repo.path / FILES[1]).chmod(0o444)
    process = _fix(widened, limit=unprivileged)
    assert (process.returncode, _fixed(widened)) == (2, [FILES[0], FILES[2]])
    assert "failure: contracts/b.yml cannot be written: Permission denied" in process.stdout
    assert process.stderr == f"fixed {FILES[0]}\nfixed {FILES[2]}\n"
    assert f"{FILES[1]}:6:11: TW006 error" in process.stdout, "what is not fixed is still found"
    assert "1 fixable with --fix\n" in process.stdout


def test_nothing_is_fixed_in_a_read_only_folder(widened: Project, unprivileged: Callable[[], None]) -> None:
    folder = widened.repo.path / "contracts"
    folder.chmod(0o555)
    process = _fix(widened, limit=unprivileged)
    folder.chmod(0o755)
    assert (process.returncode, _fixed(widened)) == (2, [])
    assert process.stdout.count("cannot be written: Permission denied") == len(FILES)


def test_a_file_that_has_no_room_stays_and_the_others_are_fixed(widened: Project) -> None:
    long = _contract(FILES[0]).replace("# the key", "# the key, " + "described at length " * 20)
    widened.declare(long.replace(*WIDER), FILES[0])
    process = _fix(widened, limit=_small_disk)
    assert process.returncode == 2
    assert "failure: contracts/a.yml cannot be written: File too large" in process.stdout
    assert (widened.repo.path / FILES[0]).read_text() == long.replace(*WIDER)
    names = {path.name for path in (widened.repo.path / "contracts").iterdir()}
    assert names == {"a.yml", "b.yml", "c.yml"}


# The second file's write ends with the process, as by `kill -9`.
KILLED = """\
import os, signal
writes = []
def sync(descriptor):
    writes.append(descriptor)
    if len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
os.fsync = sync
from schemalint.__main__ import run
run()
"""


def test_after_a_kill_each_file_is_fixed_or_as_it_was_until_the_next_run(
    widened: Project,
) -> None:
    process = _fix(widened, code=KILLED)
    assert (process.returncode, _fixed(widened)) == (-signal.SIGKILL, [FILES[0]])
    assert _fix(widened).returncode == 0
    assert _fixed(widened) == list(FILES)


# Another program edits the second file when the first one is written.
EDITED = """\
import os
from pathlib import Path
def sync(descriptor):
    with Path("contracts/b.yml").open("a") as file:
        file.write("# edited\\n")
os.fsync = sync
from schemalint.__main__ import run
run()
"""


def test_a_file_that_changes_during_the_fixes_is_left_alone(widened: Project) -> None:
    process = _fix(widened, code=EDITED)
    assert process.returncode == 2
    assert "contracts/b.yml no longer has the text that was read" in process.stdout
    text = (widened.repo.path / FILES[1]).read_text()
    assert "# edited\n" in text
    assert RECORDED not in text
    assert RECORDED in (widened.repo.path / FILES[2]).read_text()


def test_the_diff_is_a_patch_that_does_what_fix_does(widened: Project) -> None:
    before = {file: (widened.repo.path / file).read_bytes() for file in FILES}
    shown = _fix(widened, "--diff")
    assert (shown.returncode, _fixed(widened)) == (1, []), "the exit status is that without --fix"
    assert "3 fixable with --fix" in shown.stderr
    (widened.repo.path / "fixes.patch").write_text(shown.stdout)
    widened.repo.git("apply", "fixes.patch")
    patched = {file: (widened.repo.path / file).read_bytes() for file in FILES}
    for file in FILES:
        (widened.repo.path / file).write_bytes(before[file])
    assert _fix(widened).returncode == 0
    assert {file: (widened.repo.path / file).read_bytes() for file in FILES} == patched


def test_fixes_of_the_index_are_written_where_the_working_tree_is_equal(widened: Project) -> None:
    """Untracked files are not in the index; other unstaged text is nobody's to overwrite."""
    widened.repo.git("add", FILES[0], FILES[1])
    unstaged = _contract(FILES[1]).replace(*WIDER) + "# not staged\n"
    widened.declare(unstaged, FILES[1])
    widened.declare("schemalint: 1\ntable: [draft\n", "contracts/draft.yml")
    process = _fix(widened, "--head", "index")
    assert process.returncode == 2
    assert "draft" not in process.stdout
    assert "contracts/b.yml no longer has the text that was read" in process.stdout
    assert "stage or stash" in process.stdout
    assert (widened.repo.path / FILES[1]).read_text() == unstaged
    assert RECORDED in (widened.repo.path / FILES[0]).read_text()
    assert RECORDED not in (widened.repo.path / FILES[2]).read_text(), "its change is not in the index"
    assert RECORDED not in widened.repo.git("show", f":{FILES[0]}"), "whoever commits stages the fix"


def test_what_only_the_live_table_shows_is_fixed_too(project: Project) -> None:
    """For git the contract is new; the table has another type."""
    write_log(project.repo.path / "lake/sales/orders", [[protocol(), metadata(Field("id", LONG))]])
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    project.repo.commit()
    text = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: 'decimal(20,0)'}\n"
    file = project.declare(text)
    assert project.check("--live", "--diff", *IGNORED).status == 1
    run = project.check("--live", "--fix", *IGNORED)
    assert run.status == 0, run.out
    assert "fixable" not in run.out, run.out
    assert "delta.enableTypeWidening: true" in file.read_text()


def test_fixes_of_a_file_that_is_a_link_out_of_the_repository_are_not_written(
    project: Project, tmp_path: Path
) -> None:
    """The contract is read from the index; the link in its place must not choose what is overwritten."""
    project.declare(_contract(FILES[0]), FILES[0])
    project.repo.commit()
    file = project.declare(_contract(FILES[0]).replace(*WIDER), FILES[0])
    project.repo.git("add", "--all")
    outside = tmp_path / "outside.yml"
    file.rename(outside)
    before = outside.read_text()
    file.symlink_to(outside)
    process = _fix(project, "--head", "index")
    assert process.returncode == 2
    assert "leads out of the repository" in process.stdout
    assert (outside.read_text(), file.is_symlink()) == (before, True)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "nothing"])
def test_a_staged_contract_in_whose_place_is_something_else_is_not_fixed(project: Project, kind: str) -> None:
    project.declare(_contract(FILES[0]), FILES[0])
    project.repo.commit()
    file = project.declare(_contract(FILES[0]).replace(*WIDER), FILES[0])
    project.repo.git("add", "--all")
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "device":
        file.symlink_to("/dev/zero")
    expected = "cannot be read: No such file" if kind == "nothing" else "is not a regular file any more"
    run = project.check("--fix", "--head", "index", *IGNORED)
    assert run.status == 2, run.out
    assert f"contracts/a.yml {expected}" in run.out, run.out


UNSAFE_RULE = '''
from schemalint.plugin import Contract, Fix, Problem, SetProperty, Severity, rule

@rule("LOC001", on=Contract, severity=Severity.WARNING, fixable=True)
def owned(contract, ctx):
    """A table has no owner property."""
    # The base has the finding too.
    if "own.er" not in contract.state.set_properties:
        yield Problem("no owner", fix=Fix("Name us", (SetProperty("own.er", "us"),), safe=False))
'''


def test_unsafe_fixes_are_counted_apart_and_made_on_request_alone(widened: Project) -> None:
    widened.repo.write("rules.py", UNSAFE_RULE)
    widened.repo.write("schemalint.toml", 'plugins = ["rules.py"]\nextend-select = ["LOC"]\n')
    options = ("--allow-local-plugins", *IGNORED)
    shown = widened.run("check", "--all", *options)
    assert "fix: Name us (apply with --fix --unsafe-fixes, and review the result)" in shown.out
    assert "3 fixable with --fix (3 more with --unsafe-fixes)" in shown.out
    assert "own.er" not in widened.check("--diff", *options).out
    assert "own.er" in widened.check("--diff", "--unsafe-fixes", *options).out
    run = widened.check("--fix", *options)
    assert "3 fixable with --fix --unsafe-fixes" in run.out
    assert _fixed(widened) == list(FILES)
    assert "own.er" not in (widened.repo.path / FILES[0]).read_text()
    run = widened.check("--fix", "--unsafe-fixes", *options)
    assert run.status == 0
    assert "fixable" not in run.out
    assert "  own.er: us\n" in (widened.repo.path / FILES[0]).read_text()
