"""Ask Spark what changes of a table do to the streams that read it, and record its answers.

``streams.yaml`` holds the changes. Each meets four real streams: with and without a schema tracking location
(``tracked``), and each of these stopped during the change (``restarted``) or ``running``. A stopped stream
is started with ``availableNow`` until a run reads everything, or until runs fail without any progress.
``PYTHONPATH=tests python -m engine.record_streams [CASE…]`` asks again and records the answers in
``streams.csv``, and the tables' commits, without what changes from run to run, in ``streams.jsonl``. With an
older Delta the answers go to its folder of ``answers``, without the changes that it refuses.
"""

from __future__ import annotations

import csv
import importlib.metadata
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import yaml

from engine.answers import NEWEST, new_record
from engine.record_types import _versions
from schemalint.delta.stream_settings import settings
from schemalint.delta.streams import Blocking, StreamVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

    from support.logs import Action

QUESTIONS = Path(__file__).with_name("streams.yaml")
RECORD = Path(__file__).with_name("streams.csv")
LOGS = Path(__file__).with_name("streams.jsonl")

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
_ROW = "INSERT INTO {t} (id) VALUES (2)"
_TIMEOUT = 300
_MOST_STOPS = 12
_ALL_KINDS = tuple(kind.key for kind in Blocking)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Question(NamedTuple):
    """A change, and the statements that make its table and write rows after it; ``{t}`` is the table."""

    case: str
    setup: tuple[str, ...]
    change: tuple[str, ...]
    after: tuple[str, ...]


class Stream(NamedTuple):
    """How a stream reads the table, and whether it runs while the table changes."""

    tracked: bool
    running: bool


STREAMS = tuple(Stream(tracked, running) for tracked, running in product((True, False), repeat=2))


class Answer(NamedTuple):
    """What happened to a stream.

    Attributes:
        stops: How often the stream fails until it goes on; for a blocked one, with the kinds allowed from
            the start. None if it needs a new checkpoint.
        unblock: The kinds, as few as possible, that a blocked stream needs.
        versions: The versions for which a blocked stream asks its reader, one after the other.
        errors: The error class of each failed run while nothing is allowed; the last one repeats for ever
            if the stream is blocked or needs a new checkpoint.
        allowed: The error class of each failed run of a blocked stream with the kinds allowed.
    """

    verdict: StreamVerdict
    stops: int | None
    unblock: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    errors: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """Return the fields as the record has them."""
        lists = (" ".join(map(str, value)) for value in self[2:])
        return (self.verdict.value, "" if self.stops is None else str(self.stops), *lists)

    @classmethod
    def of(cls, row: Mapping[str, str]) -> Self:
        """Read the fields of a row of the record."""
        return cls(
            StreamVerdict(row["verdict"]),
            int(row["stops"]) if row["stops"] else None,
            tuple(row["unblock"].split()),
            tuple(map(int, row["versions"].split())),
            tuple(row["errors"].split()),
            tuple(row["allowed"].split()),
        )


class Log(NamedTuple):
    """The commits of a table after its change, and the last version that the streams had read before."""

    seen: int
    commits: list[Action]


def questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """Read all questions."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    read = tuple(
        Question(
            entry["case"],
            tuple(document["tables"][entry["table"]]),
            tuple(entry["change"]),
            tuple(entry.get("after", [_ROW])),
        )
        for entry in document["cases"]
    )
    assert len({question.case for question in read}) == len(read), "two questions have one name"
    return read


def ask(
    spark: SparkSession, folder: Path, question: Question, streams: Iterable[Stream] = STREAMS
) -> tuple[dict[Stream, Answer], Log]:
    """Return the engine's answer for each stream, and the log of the table."""
    folder.mkdir(parents=True)
    table = folder / "table"
    _run_all(spark, table, question.setup)
    readers = {stream: _Reader(spark, table, folder / f"c{n}", stream) for n, stream in enumerate(streams)}
    try:
        for reader in readers.values():
            reader.read_all()
        seen = _latest(table)
        _run_all(spark, table, (*question.change, *question.after))
        failures = {stream: reader.failure_of_running() for stream, reader in readers.items()}
    finally:
        for reader in readers.values():
            if reader.query is not None:
                reader.query.stop()
    answers = {stream: reader.answer(failures[stream]) for stream, reader in readers.items()}
    blocked = [stream for stream, answer in answers.items() if answer.verdict is StreamVerdict.BLOCKED]
    for stream in blocked:
        others = [readers[other] for other in blocked if other != stream]
        versions = readers[stream].versions(answers[stream].unblock, others)
        answers[stream] = answers[stream]._replace(versions=versions)
    return answers, Log(seen, _commits(table))


def write_record(answers: Mapping[str, Mapping[Stream, Answer]], path: Path = RECORD) -> None:
    """Write a row per stream, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", "tracked", "stream", *Answer._fields])
        for case, of_streams in answers.items():
            for stream, answer in of_streams.items():
                names = ("yes" if stream.tracked else "no", "running" if stream.running else "restarted")
                rows.writerow([case, *names, *answer.texts()])


def write_logs(logs: Mapping[str, Log]) -> None:
    """Write a line per log."""
    lines = (json.dumps({"case": case, **log._asdict()}) + "\n" for case, log in logs.items())
    LOGS.write_text("".join(lines), encoding="utf-8")


def read_record(path: Path = RECORD) -> dict[tuple[str, Stream], Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            (row["case"], Stream(row["tracked"] == "yes", row["stream"] == "running")): Answer.of(row)
            for row in csv.DictReader(file)
        }


def read_logs(path: Path = LOGS) -> dict[str, Log]:
    """Read the recorded logs by case."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["case"]: Log(line["seen"], line["commits"]) for line in lines}


class _Failure(NamedTuple):
    """The error class of a failed run, and for which version a blocked stream asks its reader."""

    error: str
    version: int | None


@dataclass
class _Reader:
    """A stream of the real engine."""

    spark: SparkSession
    table: Path
    checkpoint: Path
    stream: Stream
    query: StreamingQuery | None = field(default=None, init=False)
    block: _Failure | None = field(default=None, init=False)

    def read_all(self) -> None:
        """Read what the table has; a running stream runs on."""
        if self.stream.running:
            self.query = self._writer().trigger(processingTime="1 second").start()
            self.query.processAllAvailable()
        else:
            assert self.run({}) is None

    def failure_of_running(self) -> _Failure | None:
        """Wait until a running stream has read everything or failed, and return its failure."""
        if self.query is None:
            return None
        failure = self._failure(self.query.processAllAvailable)
        assert failure or self._last_read() >= _latest(self.table), "the query has not read everything"
        return failure

    def answer(self, failed: _Failure | None) -> Answer:
        """Return what becomes of the stream after the failure of its running query, if any."""
        if self.stream.running and failed is None:
            return Answer(StreamVerdict.CONTINUES, 0)
        self._keep("start")
        first = () if failed is None else (failed.error,)
        failures, goes_on = self.restart()
        errors = (*first, *(failure.error for failure in failures))
        if goes_on:
            return Answer(
                StreamVerdict.RESTARTS if errors else StreamVerdict.CONTINUES, len(errors), errors=errors
            )
        self._keep("stuck")
        self.block = failures[-1]
        unblock = (
            next(filter(self._passes_with, _sets_of_kinds()), ()) if self._passes_with(_ALL_KINDS) else ()
        )
        if not unblock:
            return Answer(StreamVerdict.NEW_CHECKPOINT, None, errors=errors)
        self._go_back("start")
        failures, goes_on = self.restart(self.settings(unblock))
        assert goes_on, "the settings unblock the stream only when it is blocked already"
        allowed = (*first, *(failure.error for failure in failures))
        return Answer(StreamVerdict.BLOCKED, len(allowed), unblock, errors=errors, allowed=allowed)

    def versions(self, unblock: tuple[str, ...], others: Iterable[_Reader]) -> tuple[int, ...]:
        """Return the versions that the blocked stream asks for: with each in its settings, it goes on.

        Other streams do not.
        """
        versions: list[int] = []
        self._go_back("stuck")
        block = self.block
        while block:
            if block.version is None:  # the message of Delta 3.3 names none
                return ()
            assert block.version not in versions, f"the settings for {block} do not unblock the stream"
            versions.append(block.version)
            conf = self.settings(unblock, block.version)
            for other in others:
                other._go_back("stuck")  # noqa: SLF001 (of the same class)
                assert not other.restart(conf)[1], "the settings of one stream unblock another one"
            failures, goes_on = self.restart(conf)
            block = None if goes_on else failures[-1]
        return tuple(versions)

    def run(self, conf: Mapping[str, str]) -> _Failure | None:
        """Start the stream, and return its failure, or None if it has read everything."""
        for key, value in conf.items():
            self.spark.conf.set(key, value)
        try:
            failure = self._failure(
                lambda: self._writer().trigger(availableNow=True).start().awaitTermination(_TIMEOUT)
            )
        finally:
            for key in conf:
                self.spark.conf.unset(key)
        if failure is None:
            assert self._last_read() >= _latest(self.table), "the stream ended, but has not read everything"
        return failure

    def settings(self, unblock: Iterable[str], version: int | None = None) -> Mapping[str, str]:
        """Return the settings that schemalint prints for this stream."""
        kinds = [kind for kind in Blocking if kind.key in unblock]
        (found,) = settings(str(self.checkpoint), kinds, version)
        return found.conf

    def restart(self, conf: Mapping[str, str] = NO_SETTINGS) -> tuple[list[_Failure], bool]:
        """Start the stream until it has read everything; return the failures, and whether it has.

        A run that fails as the one before, and leaves no new file in the checkpoint, will always fail.
        """
        failures: list[_Failure] = []
        for _ in range(_MOST_STOPS):
            before = self._files()
            failure = self.run(conf)
            if failure is None:
                return failures, True
            stuck = self._files() == before
            if not (stuck and failures[-1:] == [failure]):
                failures.append(failure)
            if stuck:
                return failures, False
        message = f"the stream still stops after {_MOST_STOPS} runs: {failures}"
        raise AssertionError(message)

    def _passes_with(self, unblock: tuple[str, ...]) -> bool:
        """Return whether the stream, when it is blocked, goes on with these kinds allowed."""
        self._go_back("stuck")
        return self.restart(self.settings(unblock))[1]

    def _keep(self, state: str) -> None:
        shutil.copytree(self.checkpoint, f"{self.checkpoint}-{state}")

    def _go_back(self, state: str) -> None:
        """Make the checkpoint what it was at `_keep`."""
        shutil.rmtree(self.checkpoint)
        shutil.copytree(f"{self.checkpoint}-{state}", self.checkpoint)

    def _files(self) -> set[Path]:
        return set(self.checkpoint.rglob("*"))

    def _last_read(self) -> int:
        offsets = self.checkpoint / "offsets"
        newest = max(
            (path for path in offsets.iterdir() if path.name.isdigit()), key=lambda path: int(path.name)
        )
        last: dict[str, Any] = json.loads(newest.read_text(encoding="utf-8").splitlines()[-1])
        version: int = last["reservoirVersion"]
        return version - 1 if last["index"] == -1 else version  # -1 comes before all files of the version

    def _writer(self) -> DataStreamWriter:
        reader = self.spark.readStream.format("delta")
        if self.stream.tracked:
            reader = reader.option("schemaTrackingLocation", str(self.checkpoint))
        writer = reader.load(str(self.table)).writeStream.format("noop")
        return writer.option("checkpointLocation", str(self.checkpoint))

    def _failure(self, run: Callable[[], object]) -> _Failure | None:
        from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

        try:
            run()
        except PySparkException as error:
            return _read_failure(error)
        return None


def _sets_of_kinds() -> Iterator[tuple[str, ...]]:
    """Yield the sets of kinds, the smaller ones first."""
    for size in range(1, len(_ALL_KINDS) + 1):
        yield from combinations(_ALL_KINDS, size)


def _read_failure(error: Exception) -> _Failure:
    text = str(error)
    classes = [found for found in re.findall(r"\[([A-Z][A-Z0-9_.]+)\]", text) if found != "STREAM_FAILED"]
    version = re.search(r"\.ckpt_-?\d+ = (\d+);", text)
    return _Failure(classes[0] if classes else text[:200], int(version[1]) if version else None)


def _run_all(spark: SparkSession, table: Path, statements: Iterable[str]) -> None:
    for statement in statements:
        result = spark.sql(statement.replace("{t}", f"delta.`{table}`"))
        if statement.startswith("SELECT"):
            overwrite = result.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
            overwrite.save(str(table))


def _latest(table: Path) -> int:
    return max(int(path.stem) for path in (table / "_delta_log").glob("*.json") if path.stem.isdigit())


def _commits(table: Path) -> list[Action]:
    """Return the commits in the notation of ``support.short_logs``, without what differs from run to run."""
    commits = sorted((table / "_delta_log").glob("*.json"))
    entries = [_entry(path.read_text(encoding="utf-8")) for path in commits]
    first = entries[0]["metaData"]["id"]
    for metadata in (entry["metaData"] for entry in entries if "metaData" in entry):
        if metadata["id"] == first:
            del metadata["id"]  # only another one tells something
    text = re.sub(r"\b1\d{12}\b", "1772359200000", json.dumps(entries))
    for number, name in enumerate(dict.fromkeys(_UUID.findall(text))):
        text = text.replace(name, f"{number:08}")
    read: list[Action] = json.loads(text)
    return read


def _entry(commit: str) -> Action:
    """Return one action of each kind in a commit: data files count only as such."""
    actions: Action = {}
    for line in commit.splitlines():
        ((name, body),) = json.loads(line).items()
        match name:
            case "commitInfo":
                actions[name] = {"operation": body["operation"]}
            case "metaData":
                fields = json.loads(body["schemaString"])["fields"]
                kept = ("id", "description", "partitionColumns", "configuration")
                actions[name] = {"fields": fields, **{key: body[key] for key in kept if body.get(key)}}
            case "add" | "remove":
                actions[name] = {"path": "file", "dataChange": body["dataChange"]}
            case _:
                actions[name] = body
    return actions


def _record(cases: Iterable[str]) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    is_newest = importlib.metadata.version("delta-spark") == NEWEST
    path = RECORD if is_newest else new_record("streams")
    chosen = set(cases)
    answers: dict[str, dict[Stream, Answer]] = {}
    logs = read_logs() if chosen else {}
    for (case, stream), answer in (read_record(path) if chosen and path.exists() else {}).items():
        answers.setdefault(case, {})[stream] = answer
    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        for number, question in enumerate(questions()):
            if chosen and question.case not in chosen:
                continue
            try:
                asked = ask(session, Path(folder, str(number)), question)
            except PySparkException:
                if is_newest:
                    raise
            else:
                answers[question.case], logs[question.case] = asked
        session.stop()
    cases = [question.case for question in questions() if question.case in answers]
    write_record({case: answers[case] for case in cases}, path)
    if is_newest:
        write_logs({case: logs[case] for case in cases})


if __name__ == "__main__":
    _record(sys.argv[1:])
