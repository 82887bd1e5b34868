"""Whether Delta makes the tables that are read from other projects' files: ``python on_engine.py FOLDER…``.

Each CREATE TABLE of a folder that is read or refused runs on the Delta that is installed, under
another name and at another place; where Delta accepts it, the table in its log is compared with the contract.
Nothing else of the folder is run. `corpus.py` says what a folder is.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialects.sql.corpus import settings_for, texts
from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.dialects.sql.file_reader import FileReader
from schemalint.contract.dialects.sql.lexer import SqlText
from schemalint.delta.diff import diff
from schemalint.delta.properties import find_property
from schemalint.delta.table import TableState
from schemalint.model.declaration import created_state
from support.logs import read_live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME: Final = re.compile(
    r"(?is)(CREATE\s+(?:OR\s+REPLACE\s+)?(?:EXTERNAL\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?)((?:`[^`]*`|[^\s(`])+)"
)
_BY_DESIGN: Final = ("takes its columns from", "takes the columns of", "IDENTIFIER()", "DEFAULT COLLATION")
"""What is refused because the columns stand somewhere else, whatever Delta says."""

_NOT_STORED: Final = "delta.feature.allowColumnDefaults"


class Engine:
    """The installed Delta."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder, self._count = spark, folder, 0

    def answer(self, statement: str) -> tuple[str, TableState | None]:
        """Run a statement that makes the table ``{new table}``; return its error, or the table."""
        self._count += 1
        name, place = f"t{self._count}", self._folder / str(self._count)
        try:
            self._spark.sql(statement.replace("{new place}", str(place)).replace("{new table}", name))
            uri = self._spark.sql(f"DESCRIBE DETAIL {name}").first()["location"]
            live = read_live(uri)
        except SchemalintError as error:
            return f"unread: {error}", None
        except Exception as error:  # noqa: BLE001 (of Java, or of Spark)
            name = getattr(error, "getErrorClass", lambda: None)() or str(error).split("\n", 1)[0]
            return str(name)[:120], None
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return "", live.state if live else None


def comparable(state: TableState) -> TableState:
    """Return a state without what the engine adds by itself."""
    kept = {
        key: value
        for key, value in state.set_properties.items()
        if key != _NOT_STORED and ((row := find_property(key)) is None or not row.written_by_delta)
    }
    return replace(state, features=frozenset(), properties=kept)


def runnable(text: str) -> tuple[str, FileReader]:
    """Return a statement under another name and at another place, and what was read of it."""
    settings = settings_for(text)
    reader = FileReader(SqlText("statement.sql", text), settings)
    reader.read()
    for table in reader.tables.values():
        spans = [(table.name.span, "{new table}")]
        if ("location",) in table.spans:
            spans.append((table.spans["location",], "'{new place}'"))
        for span, other in sorted(spans, key=lambda each: -each[0].start):
            text = text[: span.start] + other + text[span.end :]
        return _with_values(text, dict(settings.variables)), reader
    return _with_values(_NAME.sub(r"\1{new table}", text, count=1), dict(settings.variables)), reader


def _with_values(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = re.sub(rf"\$\{{\s*{name}\s*\}}|\{{\{{-?\s*{name}\s*-?\}}\}}|\{{\s*{name}\s*\}}", value, text)
    return text


def judged(engine: Engine, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what becomes of each distinct CREATE TABLE, with its place and what there is to say."""
    seen: set[str] = set()
    for place, text in texts(folder):
        if not _NAME.match(text) or text in seen:
            continue
        seen.add(text)
        statement, reader = runnable(text)
        if not reader.tables and not reader.errors:
            continue  # it declares no table of Delta
        error, live = engine.answer(statement)
        if reader.errors:
            message = reader.errors[0].message
            is_by_design = any(words in message for words in _BY_DESIGN)
            if error:
                yield "refused by both", place, ""
            elif is_by_design:
                yield "refused by design", place, ""
            else:
                yield "REFUSED, AND DELTA ACCEPTS IT", place, f"{message} | {statement[:300]!r}"
        elif error:
            yield "read, and Delta refuses it", place, f"{error} | {statement[:200]!r}"
        else:
            (table,) = reader.tables.values()
            differences = (
                diff(comparable(created_state(table.state)), comparable(live)) if live else ("no log",)
            )
            if differences:
                yield "ANOTHER TABLE", place, f"{differences[:3]} | {statement[:300]!r}"
            else:
                yield "the same table", place, ""


def main(folders: list[str]) -> None:
    """Print the counts of each folder, and what there is to say."""
    from conftest import start_session  # noqa: PLC0415 (it starts a session)

    with tempfile.TemporaryDirectory() as name:
        spark = start_session(Path(name) / "warehouse")
        # As the entry says by `using`; Spark 3.5 makes a table of Hive otherwise.
        spark.conf.set("spark.sql.sources.default", "delta")
        spark.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
        engine = Engine(spark, Path(name))
        for folder in folders:
            counts: Counter[str] = Counter()
            for what, place, words in judged(engine, Path(folder)):
                counts[what] += 1
                if words:
                    sys.stdout.write(f"# {what}: {place}: {words}\n")
            sys.stdout.write(f"- {folder}: {dict(sorted(counts.items()))}\n")
            sys.stdout.flush()
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
