"""Hostile logs are read or refused within the memory that `schemalint.tables.delta_log.log_limits` promises.

Each test runs schemalint in its own process. A process that hangs, dies or prints a traceback fails the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.datatype import LONG, Field
from support import parquet_bytes as pq
from support.logs import add, metadata, protocol, remove, write_commit, write_file, write_lines, write_log

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")

MAX_MEMORY: Final = 1024
"""MiB of memory that a table may take; see `log_limits`."""

GUARD: Final = 8 << 30
"""Bytes of address space that a child process may use, to protect the machine's memory."""

TIMEOUT: Final = 600
"""Seconds; no test takes longer than ten on a quiet machine."""

CHILD: Final = f"""
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, ({GUARD}, {GUARD}))
try:
    runpy.run_module("schemalint", run_name="__main__", alter_sys=True)
finally:
    with open("/proc/self/status") as status:  # wait4() would count the parent's peak too
        peak = next(line for line in status if line.startswith("VmHWM"))
    sys.stderr.write(f"peak {{int(peak.split()[1]) >> 10}}")
"""

STATE = [protocol(), metadata(Field("id", LONG))]
CHECKPOINT = f"{0:020}.checkpoint.parquet"
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
NEWER = '"version": 1,'  # the table was read up to its second commit
OLDER = '"version": 0,'  # the table was read up to its first commit
MIB = 1 << 20

Write = Callable[[Path], object]


@dataclass(frozen=True)
class Attack:
    """A hostile log, and texts that the output contains."""

    write: Write
    expected: Sequence[str]


def run(*arguments: str) -> str:
    """Run schemalint and return its output; check the exit status and the memory."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    errors, _, peak = done.stderr.rpartition("peak ")
    assert done.returncode in {0, 1, 2}, done.stderr
    assert "Traceback" not in errors
    assert int(peak) < MAX_MEMORY
    return done.stdout


def commit(number: int, data: Callable[[], bytes]) -> Write:
    """Write this commit after a normal one."""

    def write(table: Path) -> None:
        write_log(table, [STATE])
        write_commit(table, number, data())

    return write


def of_metadata(body: str) -> bytes:
    return f'{{"metaData":{{{body}}}}}\n'.encode()


def of_schema(schema: str) -> bytes:
    return of_metadata(f'"id":"t-1","schemaString":{json.dumps(schema)}')


def of_fields(number: int, name: str = "{}") -> str:
    fields = ",".join(f'{{"name":"{name.format(index)}","type":"byte"}}' for index in range(number))
    return f'{{"type":"struct","fields":[{fields}]}}'


def sparse(name: str, size: int, start: bytes = b"") -> Write:
    def write(table: Path) -> None:
        write_log(table, [STATE])
        os.truncate(write_file(table, name, start), size)

    return write


def log_with(name: str, make: Callable[[Path], object]) -> Write:
    """Write a log of one commit, and let `make` create an entry in its folder."""

    def write(table: Path) -> None:
        write_log(table, [STATE])
        make(table / "_delta_log" / name)

    return write


def write_same_commits(table: Path, numbers: Iterable[int], data: bytes = b"{}\n") -> None:
    """Write many commits with the same content as hard links."""
    source = write_file(table, "source", data)
    for number in numbers:
        source.with_name(f"{number:020}.json").hardlink_to(source)
    source.unlink()


def gaps(table: Path) -> None:
    """Write a log in which every second commit is missing."""
    write_log(table, [STATE])
    write_same_commits(table, range(2, 100_000, 2))


def damaged_commits(table: Path) -> None:
    write_log(table, [STATE])
    write_same_commits(table, range(1, 1_000), b'{"protocol":')
    write_lines(table, f"{1:020}.{999:020}.compacted.json", [add()])


def many_checkpoints(table: Path) -> None:
    """Write many damaged checkpoints and a readable newest one, followed by commits with gaps."""
    write_same_commits(table, range(2_000, 4_000, 2))
    for number in range(1_000):
        write_file(table, f"{number:020}.checkpoint.{UUID}.json")
    write_lines(table, f"{999:020}.checkpoint.{UUID}.json", STATE)


def many_commits(table: Path) -> None:
    write_log(table, [STATE])
    write_same_commits(table, range(1, 20_000))


def long_history(table: Path) -> None:
    """Write metadata that would take more than 1 GiB in memory: each character takes 4 bytes."""
    write_log(table, [STATE])
    description = "x" * MIB + "\U0001f600"
    write_same_commits(table, range(1, 300), of_metadata(f'"id":"t-1","description":"{description}"'))


WRONG_RANGES = {f"{0:020}.{2**63 - 1:020}.compacted.json", f"{5:020}.{4:020}.compacted.json"}


def absurd_versions(table: Path) -> None:
    write_log(table, [STATE])
    for name in WRONG_RANGES | {f"{'9' * 20}.json", f"{2**63:020}.json"}:
        write_file(table, name, json.dumps(STATE[0]).encode())
    write_log(table, [STATE], first=2**63 - 1)


TEXTS = {
    "a commit of 64 GiB without a line break": Attack(
        sparse(f"{1:020}.json", 64 << 30), ["larger than 64 MiB"]
    ),
    "a line of 80 MiB": Attack(
        commit(1, lambda: b'{"add":{"path":"' + b"a" * (80 * MIB) + b'"}}\n'), ["larger than 64 MiB"]
    ),
    "a schema of 40 MiB": Attack(
        commit(1, lambda: of_schema("x" * (40 * MIB))),
        ["limit of schemalint exceeded: the action is larger than 16 MiB", "may be healthy"],
    ),
    "ten million lists": Attack(
        commit(1, lambda: of_metadata('"x":[' + "[]," * 10**7 + "[]]")), ["larger than"]
    ),
    "five million lists": Attack(
        commit(1, lambda: of_metadata('"x":[' + "[]," * 5 * 10**6 + "[]]")), ["values"]
    ),
    "escaped lists": Attack(
        commit(1, lambda: of_metadata('"schemaString":"[' + r"\u005b\u005d\u002c" * 900_000 + '1]"')),
        ["schemaString cannot be read: it has more than 1000000 values"],
    ),
    "a million columns": Attack(commit(1, lambda: of_schema(of_fields(10**6))), ["larger than 16 MiB"]),
    "twenty thousand columns": Attack(commit(1, lambda: of_schema(of_fields(20_000))), [NEWER]),
    "a name of 8 MiB whose characters take 4 bytes each": Attack(
        commit(1, lambda: of_schema(of_fields(1, "x" * 8 * MIB + "\U0001f600"))), [NEWER]
    ),
    "lone surrogates": Attack(
        commit(1, lambda: of_schema(r'{"type":"struct","fields":["\ud800",' + "{}," * 400_000 + "1]}")),
        ["expected a field"],
    ),
    "a hundred thousand levels of objects": Attack(
        commit(1, lambda: of_metadata('"a":' + '{"a":' * 10**5 + "1" + "}" * 10**5)), ["nested too deeply"]
    ),
    "a schema of a hundred thousand levels": Attack(
        commit(1, lambda: of_schema('{"type":"array","elementType":' * 10**5 + '"long"' + "}" * 10**5)),
        ["more than 1000 levels deep"],
    ),
    "a hundred thousand properties": Attack(
        commit(
            1,
            lambda: of_metadata(
                f'"id":"t-1","configuration":{json.dumps(dict.fromkeys(map(str, range(10**5))))}'
            ),
        ),
        [NEWER],
    ),
    "a number of five thousand digits": Attack(
        commit(1, lambda: of_metadata('"createdTime":' + "9" * 5_000)), ["a number has more than 4300 digits"]
    ),
    "a number of five thousand digits in a schema": Attack(
        commit(1, lambda: of_schema(f'{{"type":"struct","fields":[{"9" * 5_000}]}}')),
        ["the schema is not JSON: a number has more than 4300 digits"],
    ),
    "infinite and invalid numbers": Attack(
        commit(
            1,
            lambda: of_metadata(
                f'"id":"t-1","createdTime":1e400,"configuration":{{"a":NaN,"b":-Infinity,"c":{"9" * 4_000}}}'
            ),
        ),
        [NEWER, '"created_time": null'],
    ),
    "a column id of four thousand digits": Attack(
        commit(
            1,
            lambda: of_schema(
                '{"type":"struct","fields":[{"name":"a","type":"long","metadata":{"delta.columnMapping.id":'
                f"{'9' * 4_000}}}}}]}}"
            ),
        ),
        [NEWER],
    ),
    "ten thousand metadata in one commit": Attack(
        commit(1, lambda: of_metadata('"id":"t-1"') * 10**4),
        [NEWER, "there is more than one metaData action"],
    ),
    "a long history": Attack(
        long_history, ['"version": 299,', "is left out: the metadata of the whole history exceeds 32"]
    ),
    "every second commit is missing": Attack(gaps, [OLDER, "and 49899 more like this"]),
    "damaged commits, and a compaction of them": Attack(
        damaged_commits, ['"version": 999,', "more like this"]
    ),
    "many checkpoints, and gaps after them": Attack(
        many_checkpoints, ['"version": 999,', "and 900 more like this"]
    ),
    "twenty thousand commits": Attack(many_commits, ['"version": 19999,']),
    "absurd versions": Attack(absurd_versions, [f'"version": {2**63 - 1},', "are missing"]),
    "a checksum of 64 GiB": Attack(sparse(f"{0:020}.crc", 64 << 30), [OLDER, "larger than 64 MiB"]),
    "a checksum of lists": Attack(
        log_with(f"{0:020}.crc", lambda file: file.write_bytes(b"[]," * 10**7)),
        [OLDER, "it has more than 1000000 values"],
    ),
    "a pointer of eight exbibytes": Attack(
        sparse("_last_checkpoint", 1 << 43), [OLDER, "larger than 64 MiB"]
    ),
    "a pointer to a billion parts": Attack(
        log_with(
            "_last_checkpoint",
            lambda file: file.write_bytes(b'{"version":7,"parts":1000000000,"size":1e999}'),
        ),
        [OLDER, "of version 7, which does not exist"],
    ),
    "a pointer to a version of five thousand digits": Attack(
        log_with("_last_checkpoint", lambda file: file.write_bytes(b'{"version":' + b"9" * 5_000 + b"}")),
        [OLDER, "a number has more than 4300 digits"],
    ),
    "a checkpoint of ten billion parts": Attack(
        log_with(f"{0:020}.checkpoint.{1:010}.{10**10 - 1:010}.parquet", Path.touch), [OLDER]
    ),
}
FILES = {
    "a pipe": Attack(log_with(f"{1:020}.json", os.mkfifo), ["it is not a regular file"]),
    "a pipe as a checksum": Attack(log_with(f"{0:020}.crc", os.mkfifo), [OLDER, "it is not a regular file"]),
    "a pipe as a checkpoint": Attack(log_with(CHECKPOINT, os.mkfifo), [OLDER, "it is not a regular file"]),
    "an endless device": Attack(
        log_with("_last_checkpoint", lambda file: file.symlink_to("/dev/zero")), [OLDER, "not a regular file"]
    ),
    "a link to itself": Attack(
        log_with(f"{0:020}.crc", lambda file: file.symlink_to(file)), [OLDER, "a symbolic link to itself"]
    ),
}


def checkpoint(data: bytes) -> Write:
    """Write this checkpoint into a log whose commits are complete."""

    def write(table: Path) -> None:
        write_log(table, [STATE, [add()]])
        write_file(table, CHECKPOINT, data)

    return write


SCHEMA = [
    pq.group(b"root", 4, pq.REQUIRED),
    pq.group(b"protocol", 1),
    pq.leaf(b"minReaderVersion", pq.INT32),
    pq.group(b"metaData", 2),
    pq.leaf(b"id", pq.BYTE_ARRAY),
    pq.group(b"configuration", 1, converted=1),
    pq.group(b"key_value", 2, pq.REPEATED),
    pq.leaf(b"key", pq.BYTE_ARRAY, pq.REQUIRED),
    pq.leaf(b"value", pq.BYTE_ARRAY),
    pq.group(b"add", 1),
    pq.leaf(b"path", pq.BYTE_ARRAY),
    pq.group(b"sidecar", 1),
    pq.leaf(b"path", pq.BYTE_ARRAY),
]
LEAVES = {
    (b"protocol", b"minReaderVersion"): pq.INT32,
    (b"metaData", b"id"): pq.BYTE_ARRAY,
    (b"metaData", b"configuration", b"key_value", b"key"): pq.BYTE_ARRAY,
    (b"metaData", b"configuration", b"key_value", b"value"): pq.BYTE_ARRAY,
    (b"add", b"path"): pq.BYTE_ARRAY,
    (b"sidecar", b"path"): pq.BYTE_ARRAY,
}


def nulls(rows: int, *, pages: int = 1, **replaced: pq.Column) -> list[pq.Column]:
    """Return columns of nulls; keywords replace columns by the names of their leaves."""

    def column(path: tuple[bytes, ...]) -> pq.Column:
        levels = pq.levels((rows, 0)) * (2 if b"key_value" in path else 1)
        return pq.Column(path, LEAVES[path], pq.data_page(rows, levels) * pages, rows * pages)

    return [replaced.get(path[-1].decode() if path[0] != b"add" else "add", column(path)) for path in LEAVES]


def repeated(path: tuple[bytes, ...], rows: int, text: bytes) -> pq.Column:
    """Return a column with the same text in all rows, stored in a dictionary."""
    data = pq.data_page(rows, pq.levels((rows, 2)) + pq.indices(rows), encoding=pq.DICTIONARY)
    return pq.Column(path, pq.BYTE_ARRAY, data, rows, pq.dictionary_page(text))


def prefixed(path: tuple[bytes, ...], rows: int, text: bytes) -> pq.Column:
    """Return a column with the same text in all rows, each stored as the prefix of the previous row."""
    values = pq.lengths(0, len(text), rows) + pq.lengths(len(text), 0, rows) + text
    data = pq.data_page(rows, pq.levels((rows, 2)) + values, encoding=pq.DELTA_BYTE_ARRAY)
    return pq.Column(path, pq.BYTE_ARRAY, data, rows)


def entries(number: int, leaf: bytes, level: int) -> pq.Column:
    """Return a column with one row of `number` map entries, all with the same text."""
    # The first entry has repetition level 0: it begins the row.
    data = pq.levels((1, 0), (number - 1, 1)) + pq.levels((number, level)) + pq.indices(number)
    path = (b"metaData", b"configuration", b"key_value", leaf)
    page = pq.data_page(number, data, encoding=pq.DICTIONARY)
    return pq.Column(path, pq.BYTE_ARRAY, page, number, pq.dictionary_page(b"x" * 1_000))


def small(schema: Sequence[pq.Struct], row_groups: pq.Value) -> bytes:
    return b"PAR1" + pq.footer({1: 1, 2: list(schema), 3: pq.Long(1), 4: row_groups})


def gibibyte() -> bytes:
    return pq.gzipped(1 << 30, pq.levels((10, 0)))


MAX_INT = 2**31 - 1
CHUNKS = pq.struct({1: pq.Raw(900_000, b"\x26\0\0" * 900_000), 2: pq.Long(1), 3: pq.Long(1)})
BOMB = pq.Column((b"protocol", b"minReaderVersion"), pq.INT32, b"", 10, codec=pq.GZIP)
ID = (b"metaData", b"id")
PARQUET: dict[str, tuple[Callable[[], bytes], str]] = {
    "a billion rows": (lambda: pq.parquet(SCHEMA, nulls(10**9), 10**9), "claims 1000000000 rows"),
    "pages of billions of rows": (
        lambda: pq.parquet(SCHEMA, nulls(MAX_INT, pages=100), MAX_INT * 100),
        "claims 214748364700 rows",
    ),
    "the same row group 2,000 times": (
        lambda: pq.parquet(SCHEMA, nulls(10, pages=100), 10, groups=2_000),
        "columns of more bytes than it has",
    ),
    "a page that claims 2 GiB": (
        lambda: pq.parquet(
            SCHEMA,
            nulls(
                10, id=pq.Column(ID, pq.BYTE_ARRAY, pq.data_page(10, b"", size=MAX_INT), 10, codec=pq.GZIP)
            ),
            10,
        ),
        "its pages take more than 256 MiB",
    ),
    "a page of 1 GiB compressed to a megabyte": (
        lambda: pq.parquet(
            SCHEMA,
            nulls(
                10,
                minReaderVersion=pq.Column(
                    BOMB.path, BOMB.type, pq.data_page(10, gibibyte(), size=1 << 30), 10, codec=pq.GZIP
                ),
            ),
            10,
        ),
        "its pages take more than 256 MiB",
    ),
    "a name of 1 MiB in a million rows": (
        lambda: pq.parquet(SCHEMA, nulls(10**6, id=repeated(ID, 10**6, b"x" * MIB)), 10**6),
        "expand to more than",
    ),
    "a name of 1 MiB, and thirty thousand with the same prefix": (
        lambda: pq.parquet(SCHEMA, nulls(30_000, id=prefixed(ID, 30_000, b"x" * MIB)), 30_000),
        "expand to more than",
    ),
    "thousands of page headers of 10 KiB": (
        lambda: pq.parquet(
            SCHEMA,
            nulls(
                3_000,
                id=pq.Column(
                    ID,
                    pq.BYTE_ARRAY,
                    pq.data_page(1, pq.levels((1, 0)), statistics=b"x" * 5_000) * 3_000,
                    3_000,
                ),
            ),
            3_000,
        ),
        "lacks the protocol or the metadata",
    ),
    "the metadata five hundred times": (
        lambda: pq.parquet(SCHEMA, nulls(500, id=repeated(ID, 500, b"x" * 2_000)), 500),
        "repeats the same action too often",
    ),
    "a hundred million properties in one row": (
        lambda: pq.parquet(
            SCHEMA,
            nulls(
                1,
                id=repeated(ID, 1, b"x"),
                key=entries(10**8, b"key", 2),
                value=entries(10**8, b"value", 3),
            ),
            1,
        ),
        "its pages take more than 256 MiB",
    ),
    "millions of columns in a footer": (
        lambda: small(SCHEMA, pq.Raw(20, CHUNKS * 20)),
        "its footer has more than 400000 columns",
    ),
    "a schema of millions of columns": (
        lambda: small([pq.group(b"root", 10**6), *[pq.leaf(b"a", pq.INT32)] * 10**6], []),
        "its footer has more than 400000 columns",
    ),
    "a schema of five thousand levels": (
        lambda: small([pq.group(b"root", 1), *[pq.group(b"a", 1)] * 5_000, pq.leaf(b"x", pq.INT32)], []),
        "cannot be read",
    ),
    "a list that claims to be endless": (lambda: small([], pq.Raw(MAX_INT, b"")), "cannot be read"),
}


TAKES_LONG: Final = {
    "a commit of 64 GiB without a line break",
    "a footer of millions of columns in a data file",
    "a line of 80 MiB",
    "a long history",
    "a long path in a million rows of a sidecar",
    "a million columns",
    "a name of 1 MiB in a million rows",
    "a name of 1 MiB, and thirty thousand with the same prefix",
    "a name of 8 MiB whose characters take 4 bytes each",
    "a page of 1 GiB compressed to a megabyte",
    "a schema of 40 MiB",
    "a schema of millions of columns",
    "every second commit is missing",
    "millions of columns in a footer",
    "the same row group 2,000 times",
    "thousands of page headers of 10 KiB",
    "twenty thousand columns",
    "twenty thousand commits",
}


def attacks(names: Iterable[str]) -> list[ParameterSet]:
    """Return the names of attacks, of which `make wide` has those that take long."""
    return [pytest.param(name, marks=pytest.mark.wide if name in TAKES_LONG else ()) for name in names]


@pytest.mark.wide
@pytest.mark.parametrize("name", attacks([*TEXTS, *FILES]))
def test_show_reads_or_refuses_a_hostile_log(tmp_path: Path, name: str) -> None:
    attack = {**TEXTS, **FILES}[name]
    attack.write(tmp_path)
    output = run("show", str(tmp_path), "--output-format", "json")
    for text in attack.expected:
        assert text in output


@pytest.mark.parametrize("name", attacks(PARQUET))
def test_show_reads_the_commits_in_place_of_a_hostile_checkpoint(tmp_path: Path, name: str) -> None:
    make, expected = PARQUET[name]
    checkpoint(make())(tmp_path)
    output = run("show", str(tmp_path), "--output-format", "json")
    assert NEWER in output
    assert expected in output


def with_sidecars(data: Callable[[], bytes], *names: str) -> Write:
    """Write a V2 checkpoint with sidecars of the same content."""

    def write(table: Path) -> None:
        write_log(table, [STATE])
        sidecars = [{"sidecar": {"path": name, "sizeInBytes": 9}} for name in names]
        write_lines(table, f"{0:020}.checkpoint.{UUID}.json", [*STATE, *sidecars])
        for name in set(names):
            write_file(table, f"_sidecars/{name}", data())

    return write


def with_data(make: Callable[[Path], object]) -> Write:
    """Write a log with data files, and let `make` create one of them."""

    def write(table: Path) -> None:
        write_log(table, [STATE, [add("a.parquet"), add("/dev/zero"), add("/dev/tty"), remove("b.parquet")]])
        make(table / "a.parquet")

    return write


def pipe_as_sidecar(table: Path) -> None:
    with_sidecars(bytes, "a.parquet")(table)
    sidecar = table / "_delta_log/_sidecars/a.parquet"
    sidecar.unlink()
    os.mkfifo(sidecar)


def huge_footer(file: Path) -> None:
    with file.open("wb") as content:
        content.write(b"PAR1")
        content.truncate(5 << 30)
        content.seek(0, os.SEEK_END)
        content.write(b"\xff\xff\xff\xffPAR1")


PATH = (b"add", b"path")
ONE_FILE = pq.parquet(SCHEMA, nulls(10, add=repeated(PATH, 10, b"gone.parquet")), 10)
AUDITED = {
    "a pipe as a sidecar": Attack(pipe_as_sidecar, ["it is not a regular file"]),
    "a pipe and devices as data files": Attack(with_data(os.mkfifo), ["it is not a regular file: /dev/tty"]),
    "a data file that links to itself": Attack(
        with_data(lambda file: file.symlink_to(file)), ["it is a symbolic link to itself: a.parquet"]
    ),
    "a footer of millions of columns in a data file": Attack(
        with_data(lambda file: file.write_bytes(small(SCHEMA, pq.Raw(20, CHUNKS * 20)))), ["1 table"]
    ),
    "a data file that claims a footer of 4 GiB": Attack(with_data(huge_footer), ["1 table"]),
    "a long path in a million rows of a sidecar": Attack(
        with_sidecars(
            lambda: pq.parquet(SCHEMA, nulls(10**6, add=repeated(PATH, 10**6, b"x" * 200_000)), 10**6),
            "a.parquet",
        ),
        ["expand to more than"],
    ),
    "a billion rows in a sidecar": Attack(
        with_sidecars(lambda: pq.parquet(SCHEMA, nulls(10**9), 10**9), "a.parquet"),
        ["claims 1000000000 rows"],
    ),
    "the same sidecar a hundred times": Attack(
        with_sidecars(lambda: ONE_FILE, *["a.parquet"] * 100), ["1 data file cannot be read, it is gone"]
    ),
}


@pytest.mark.parametrize("name", attacks(AUDITED))
def test_audit_of_data_files_reads_or_refuses_hostile_files(tmp_path: Path, name: str) -> None:
    attack = AUDITED[name]
    attack.write(tmp_path)
    output = run("audit", "--files", "--isolated", str(tmp_path))
    for text in attack.expected:
        assert text in output


def test_audit_limits_the_defects_of_a_badly_damaged_log(tmp_path: Path) -> None:
    damaged_commits(tmp_path)
    output = run("audit", "--isolated", str(tmp_path))
    assert "and 899 more like this" in output
