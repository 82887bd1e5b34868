"""The recorded questions for an engine that runs where this project cannot: a script, and its answers.

``python -m engine.elsewhere script FILE`` writes the script for a notebook, and ``python -m engine.elsewhere
read FILE`` makes records of what it answered, beside those of the engines that `make engine` asks itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine import record_protocols, record_types
from engine.answers import record_path, version_of
from schemalint.delta.engine import parse_engine
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TABLE: Final = "{table}"
_RUNNER: Final = Path(__file__).with_name("elsewhere_runner.py")
_SQL_NAMES: Final = {"byte": "tinyint", "short": "smallint", "long": "bigint"}


def script() -> str:
    """Return the runner with all questions: one file without imports but the standard library's."""
    text = _RUNNER.read_text("utf-8")
    questions = json.dumps([*of_types(), *of_protocols()], separators=(",", ":"))
    return (
        text.replace("QUESTIONS: list[dict[str, Any]] = []\n", f"QUESTIONS = json.loads({questions!r})\n")
        + "\n\nrun(spark)  # noqa: F821 (the session of the notebook)\n"
    )


def of_types() -> Iterator[dict[str, Any]]:
    """Yield the questions of `record_types`, one table for each type and configuration."""
    for source in record_types.TYPES:
        for config in record_types.CONFIGS.values():
            if source == "timestamp_ntz" and not config.ntz:
                continue
            columns = [f"c{index} {source}" for index in range(len(record_types.TYPES))]
            yield {
                "make": [record_types.creation(_TABLE, columns, config)],
                "asks": [
                    {
                        "part": "types",
                        "key": [source, target, config.widening, config.ntz],
                        "statements": [f"ALTER TABLE {_TABLE} ALTER COLUMN c{index} TYPE {target}"],
                        "column": f"c{index}",
                    }
                    for index, target in enumerate(record_types.TYPES)
                ],
            }


def of_protocols() -> Iterator[dict[str, Any]]:
    """Yield the questions of `record_protocols`, each with a table of its own."""
    for question in record_protocols.all_questions():
        start, change = question.start, record_protocols.CHANGES[question.change]
        creation = record_protocols.creation(
            _TABLE, {"properties": {**record_protocols.STARTS[start]}} if start else change
        )
        yield {
            "make": [creation] if start else [],
            "asks": [
                {
                    "part": "protocols",
                    "key": list(question),
                    "statements": [*record_protocols.alterations(_TABLE, change)] if start else [creation],
                    "column": None,
                }
            ],
        }


def records(lines: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    """Write the records of an answers file, and yield their paths."""
    head, *tables = lines
    answers = [answer for table in tables for answer in table["answers"]]
    version = version_of(parse_engine(head["engine"]))
    about = f"{head['engine']}, Spark {head['spark']}, asked on {head['asked']}"
    types = {
        record_types.Question(*answer["key"]): type_answer(answer)
        for answer in answers
        if answer["part"] == "types"
    }
    protocols = {
        record_protocols.Question(*answer["key"]): protocol_answer(answer)
        for answer in answers
        if answer["part"] == "protocols"
    }
    path = record_path("types", version)
    path.parent.mkdir(exist_ok=True)
    if types:
        record_types.write_record(types, path, about)
        yield path
    if protocols:
        record_protocols.write_record(protocols, record_path("protocols", version), about)
        yield record_path("protocols", version)


def type_answer(answer: Mapping[str, Any]) -> record_types.Answer:
    """Return an answer about types as `record_types` has it."""
    _source, target, *_config = answer["key"]
    if answer.get("error"):
        return record_types.Answer(accepted=False, error_class=answer["error"])
    return record_types.Answer(accepted=answer["type"] == _SQL_NAMES.get(target, target))


def protocol_answer(answer: Mapping[str, Any]) -> record_protocols.Answer:
    """Return the protocol: DESCRIBE DETAIL names the features that versions imply too, the log does not."""
    if error := answer.get("error"):
        has_class = error.replace("_", "").replace(".", "").isalnum()
        return str(error) if has_class else record_protocols.REFUSED
    reader, writer = answer["reader"], answer["writer"]
    features = frozenset(answer["features"] or ()) if writer == 7 else frozenset()
    of_readers = frozenset(name for name in features if name in FEATURES and FEATURES[name].reader)
    return Protocol(reader, writer, of_readers if reader == 3 else frozenset(), features)


def main() -> None:
    """Write the script, or read the answers."""
    task, name = sys.argv[1:3]
    if task == "script":
        Path(name).write_text(script(), encoding="utf-8")
        return
    lines = [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]
    sys.stdout.writelines(f"{path}\n" for path in records(lines))


if __name__ == "__main__":
    main()
