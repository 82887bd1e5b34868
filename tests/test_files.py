"""The writer of files: whole or unchanged, with its mode, and never outside of the repository."""

from __future__ import annotations

import ast
import errno
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import UsageError
from schemalint.base.files import LineFile, rewrite_text, unfinished, write_text
from schemalint.base.printable import terminal_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BIG = "x" * 1_000_000


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "docs").mkdir()
    return root


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """Let writes fail with EFBIG, as a full disk does with ENOSPC: after a part is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_new_file_has_the_mode_of_new_files_and_its_folder_is_made(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    write_text(tmp_path / "new/a.yml", "ä\r\n", parents=True)
    assert (tmp_path / "new/a.yml").read_bytes() == "ä\r\n".encode()
    assert (tmp_path / "new/a.yml").stat().st_mode == other.stat().st_mode


def test_a_report_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file or directory"):
        write_text(tmp_path / "typo/report", "text")
    assert _names(tmp_path) == []


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o640)
    write_text(file, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_write_that_fails_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "a.yml"
    file.write_text("old")
    with (
        _files_of_at_most(1000),
        pytest.raises(UsageError, match=r"a\.yml cannot be written: File too large"),
    ):
        write_text(file, BIG)
    assert file.read_text() == "old"
    assert _names(tmp_path) == ["a.yml"]
    assert unfinished == set()


def test_a_disk_that_is_full_only_at_fsync_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.yml"
    file.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_text(file, "new")
    assert (file.read_text(), _names(tmp_path)) == ("old", ["a.yml"])


def test_a_file_without_write_permission_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)  # root may write everything
    with pytest.raises(UsageError, match="Permission denied"):
        write_text(file, "new")
    assert file.read_text() == "old"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        write_text(tmp_path, "new")


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("link", ["../docs/a.md", "../new.md", "../docs/../docs/a.md"])
def test_a_link_within_the_repository_stays_and_its_target_is_written(repository: Path, link: str) -> None:
    (repository / "docs/a.md").write_text("old")
    (repository / "reports").mkdir()
    (repository / "reports/a.md").symlink_to(link)
    write_text(repository / "reports/a.md", "new")
    assert (repository / "reports/a.md").is_symlink()
    assert (repository / "reports" / link).resolve().read_text() == "new"


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("a.md", "../outside/a.md"),
        ("a.md", "../outside/new.md"),
        ("reports", "../outside"),
        ("a.md", ".git/config"),
        ("a.md", "docs/next"),
        ("docs/reports", "../../outside"),
    ],
)
def test_a_link_out_of_the_repository_is_refused(repository: Path, link: str, target: str) -> None:
    outside = repository.parent / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("old")
    (repository / ".git/config").write_text("old")
    (repository / "docs/next").symlink_to("../../outside/a.md")
    (repository / link).symlink_to(target)
    file = repository / link if link.endswith("a.md") else repository / link / "a.md"
    with pytest.raises(UsageError, match="leads out of the repository"):
        write_text(file, "new")
    assert _names(outside) == ["a.md"]
    assert (outside / "a.md").read_text() == (repository / ".git/config").read_text() == "old"


def test_links_outside_of_repositories_are_followed(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "current").symlink_to(repository)
    write_text(tmp_path / "current/docs/a.md", "new")
    assert (repository / "docs/a.md").read_text() == "new"


def test_each_line_of_a_log_is_in_the_file_at_once_in_place_of_its_old_lines(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("old\n")
    log = LineFile(file)
    assert file.read_text() == ""
    log.write(terminal_text(["one"]))
    assert file.read_text() == "one\n"
    log.write(terminal_text(["two"]))
    assert (file.read_text(), log.problem) == ("one\ntwo\n", None)
    log.close()


def test_a_log_into_a_pipe_is_read_line_by_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    log = LineFile(tmp_path / "pipe")
    log.write(terminal_text(["one"]))
    assert os.read(reader, 100) == b"one\n"
    os.close(reader)
    log.write(terminal_text(["two"]))
    assert "cannot be written: Broken pipe" in str(log.problem)
    log.close()


def test_a_log_that_cannot_be_written_further_stops_no_work_and_says_so(tmp_path: Path) -> None:
    log = LineFile(tmp_path / "log")
    with _files_of_at_most(6):
        log.write(terminal_text(["first"]))
        log.write(terminal_text(["second"]))
    log.write(terminal_text(["third"]))
    assert (tmp_path / "log").read_text() == "first\n"
    assert "cannot be written: File too large" in str(log.problem)
    log.close()


def test_lines_of_several_threads_stay_whole(tmp_path: Path) -> None:
    log = LineFile(tmp_path / "log")
    texts = [str(number) * 20_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        for text in texts * 5:
            threads.submit(log.write, terminal_text([text]))
    log.close()
    assert sorted((tmp_path / "log").read_text().splitlines()) == sorted(texts * 5)


def test_a_log_is_no_link_out_of_the_repository(repository: Path) -> None:
    (repository.parent / "target").write_text("kept")
    (repository / "log").symlink_to("../target")
    with pytest.raises(UsageError, match="leads out of the repository"):
        LineFile(repository / "log")
    assert (repository.parent / "target").read_text() == "kept"


def test_a_process_killed_while_it_writes_leaves_whole_lines_but_for_the_last(tmp_path: Path) -> None:
    code = (
        "import itertools, sys; from pathlib import Path; from schemalint.base.files import LineFile\n"
        "log = LineFile(Path(sys.argv[1]))\n"
        "for number in itertools.count(): log.write(f'{number}' + 'x' * 3000 + '\\n')"
    )
    for number in range(3):
        file = tmp_path / f"log-{number}"
        process = subprocess.Popen([sys.executable, "-c", code, str(file)])
        while not (file.exists() and file.stat().st_size > 100_000 * (number + 1)):
            assert process.poll() is None
        process.kill()
        process.wait()
        *lines, rest = file.read_text().split("\n")
        assert lines == [f"{count}{'x' * 3000}" for count in range(len(lines))]
        assert f"{len(lines)}{'x' * 3000}".startswith(rest)


def test_line_ends_that_git_converted_are_written_as_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "a.yml"
    file.write_bytes(b"a: 1\r\nb: 2\r\n")
    rewrite_text(file, "a: 1\nb: 2\n", "a: 1\nc: 3\nb: 2\n")
    assert file.read_bytes() == b"a: 1\r\nc: 3\r\nb: 2\r\n"
    rewrite_text(file, "a: 1\r\nc: 3\r\nb: 2\r\n", "a: 1\r\n")
    assert file.read_bytes() == b"a: 1\r\n"


def test_a_text_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.yml"
    file.write_text("edited")
    with pytest.raises(UsageError, match="no longer has the text that was read"):
        rewrite_text(file, "read", "fixed")
    assert file.read_text() == "edited"


# A report of a bug, and the output of the JVM: new files in the folder for temporary files. And the standard
# output of a program of its own.
TEMPORARY = {
    "schemalint/cli/__init__.py": 1,
    "schemalint/base/files.py": 4,
    "schemalint/spark/jvm.py": 1,
}


def test_only_one_module_writes_files() -> None:
    writing = {
        str(path.relative_to(ROOT)): number
        for path in (*ROOT.glob("schemalint/**/*.py"), *ROOT.glob("rules/**/*.py"))
        if (number := sum(map(_may_write, ast.walk(ast.parse(path.read_text(encoding="utf-8"))))))
    }
    assert writing == TEMPORARY


_WRITERS = {"mkstemp", "NamedTemporaryFile", "TemporaryFile", "touch"}


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ("path.write_text('a')", True),
        ("write_text(path, 'a')", False),
        ("open(path, 'w')", True),
        ("path.open(mode='ab')", True),
        ("path.open('rb')", False),
        ("store.open(name)", False),
        ("os.open(path, flags)", False),
        ("os.fdopen(descriptor, 'rb')", False),
        ("os.fdopen(descriptor, 'wb')", True),
        ("os.open(path, os.O_RDWR)", True),
    ],
)
def test_calls_that_write_are_recognized(code: str, *, writes: bool) -> None:
    assert any(map(_may_write, ast.walk(ast.parse(code)))) is writes


def _may_write(node: ast.AST) -> bool:
    """Whether a node is a call that writes a file."""
    if isinstance(node, ast.Attribute) and node.attr in ("O_WRONLY", "O_RDWR"):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    is_method = isinstance(node.func, ast.Attribute) and name != "fdopen"
    if name not in ("open", "fdopen"):
        return name in _WRITERS or (is_method and name in ("write_text", "write_bytes"))
    mode = [
        *node.args[0 if is_method else 1 :],
        *(word.value for word in node.keywords if word.arg == "mode"),
    ]
    return any(isinstance(one, ast.Constant) and set("wax+") & set(str(one.value)) for one in mode[:1])
