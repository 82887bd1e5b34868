"""Whether Delta makes the tables that are read from other projects' files: ``python on_engine.py FOLDER…``.

Each CREATE TABLE of a folder that is read or refused runs on the Delta that is installed, under
another name and at another place; where Delta accepts it, the table in its log is compared with the contract.
An ALTER TABLE runs behind the CREATE of its table in the same file, if there is one; that table is compared
with what is read of the whole file. Without one, it runs behind a table that is made for it (``--alone``).
Nothing else of the folder is run. `corpus.py` says what a folder is.
``FOLDER:100`` leaves out the first 100 statements of a long folder, and ``--seconds 500`` ends a run.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialects.sql.corpus import settings_for, texts
from schemalint.base.errors import ContractError, SchemalintError
from schemalint.base.values import replace
from schemalint.contract.dialects.sql.file_reader import FileReader
from schemalint.contract.dialects.sql.lexer import SqlText
from schemalint.contract.dialects.sql.lexer import statements as lexed
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
_ALTERED: Final = re.compile(r"(?is)(ALTER\s+TABLE\s+|COMMENT\s+ON\s+TABLE\s+)((?:`[^`]*`|[^\s(`])+)")
_WORD: Final = re.compile(r"`[^`]+`|[A-Za-z_]\w*")
_LITERAL: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_DROPPED: Final = re.compile(r"(?is)DROP\s+CONSTRAINT\s+(?:IF\s+EXISTS\s+)?(`[^`]+`|\w+)")
_BY_DESIGN: Final = (
    "takes its columns from",
    "takes the columns of",
    "IDENTIFIER()",
    "DEFAULT COLLATION",
    "is a migration of",
    "drops",
)
"""What is refused because the columns stand elsewhere, or the file is no declaration, whatever Delta says."""

_NOT_STORED: Final = "delta.feature.allowColumnDefaults"


class Engine:
    """The installed Delta; its warehouse is a folder of the given one."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder, self._count = spark, folder, 0

    def answer(self, statement: str) -> tuple[str, TableState | None]:
        """Run a statement that makes the table ``{new table}``; return its error, or the table."""
        return self.answers((statement,))

    def answers(self, statements: Sequence[str]) -> tuple[str, TableState | None]:
        """Run the statements of one table; return the first error, or the table."""
        self._count += 1
        name, place = f"t{self._count}", self._folder / str(self._count)
        try:
            for statement in statements:
                self._spark.sql(statement.replace("{new place}", str(place)).replace("{new table}", name))
            live = read_live(str(place if place.exists() else self._folder / "warehouse" / name))
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


def judged(engine: Engine, folder: Path, first: int = 0) -> Iterator[tuple[str, str, str]]:
    """Yield what becomes of each distinct CREATE TABLE, with its place and what there is to say."""
    seen: set[str] = set()
    for place, text in texts(folder):
        if not _NAME.match(text) or text in seen:
            continue
        seen.add(text)
        statement, reader = runnable(text)
        if len(seen) <= first or (not reader.tables and not reader.errors):
            continue  # it was asked before, or declares no table of Delta
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


def altered(engine: Engine, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what becomes of each table whose file alters it behind its CREATE TABLE."""
    for path in sorted(folder.rglob("*.sql")):
        source = SqlText(path.name, path.read_text("utf-8", "replace"))
        try:
            every = [source.text[tokens[0].start : tokens[-1].end] for tokens in lexed(source)]
        except ContractError:
            continue
        for name, texts_of_table in _of_tables(every).items():
            if len(texts_of_table) > 1:
                yield _altered_table(engine, f"{path.name}: {name}", texts_of_table)


def alone(engine: Engine, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what becomes of each distinct ALTER TABLE and COMMENT ON TABLE, behind a table made for it."""
    seen: set[str] = set()
    for place, text in texts(folder):
        found = _ALTERED.match(text)
        if found is None or text in seen:
            continue
        seen.add(text)
        yield _altered_table(engine, place, [*_made_for(found[2], text[found.end() :]), text])


def _made_for(table: str, text: str) -> Iterator[str]:
    """Yield statements that make a table with all columns, and the constraint, that a text is about."""
    names = {name.strip("`").casefold(): name for name in _WORD.findall(_LITERAL.sub("", text))}
    columns = ", ".join(f"{name} STRING" for name in names.values())
    yield f"CREATE TABLE {table} ({columns or 'a STRING'}) USING delta"
    if dropped := _DROPPED.search(text):
        yield f"ALTER TABLE {table} ADD CONSTRAINT {dropped[1]} CHECK ({dropped[1]} IS NOT NULL)"


def _of_tables(every: Sequence[str]) -> dict[str, list[str]]:
    """Return the CREATE of each table that has one, with what follows about the table."""
    tables: dict[str, list[str]] = {}
    for text in every:
        created, changed = _NAME.match(text), _ALTERED.match(text)
        if created is not None:
            tables.setdefault(_plain(created[2]), [text])
        elif changed is not None and _plain(changed[2]) in tables:
            tables[_plain(changed[2])].append(text)
    return tables


def _plain(name: str) -> str:
    return name.replace("`", "").casefold()


def _altered_table(engine: Engine, place: str, every: Sequence[str]) -> tuple[str, str, str]:
    statement, alone = runnable(every[0])
    if alone.errors or not alone.tables:
        return "altered, but not read", place, ""
    changes = [_ALTERED.sub(r"\1{new table}", text, count=1) for text in every[1:]]
    whole = ";\n".join(every)
    settings = settings_for(whole)
    values = dict(settings.variables)
    error, live = engine.answers([statement, *(_with_values(text, values) for text in changes)])
    reader = FileReader(SqlText("statement.sql", whole), settings)
    reader.read()
    if reader.errors:
        message = reader.errors[0].message
        if error:
            return "altered, refused by both", place, ""
        if any(words in message for words in _BY_DESIGN):
            return "altered, refused by design", place, ""
        return "ALTERED, REFUSED, AND DELTA ACCEPTS IT", place, f"{message} | {changes!r}"
    if error or live is None:
        return "altered, and Delta refuses it", place, f"{error} | {changes!r}"
    (table,) = reader.tables.values()
    differences = diff(comparable(created_state(table.state)), comparable(live))
    if differences:
        return "ALTERED, ANOTHER TABLE", place, f"{differences[:3]} | {changes!r}"
    return "altered, the same table", place, ""


def main(folders: list[str]) -> None:
    """Print the counts of each folder, and what there is to say."""
    from conftest import start_session  # noqa: PLC0415 (it starts a session)

    seconds, folders = (float(folders[1]), folders[2:]) if folders[0] == "--seconds" else (1e9, folders)
    is_alone, folders = "--alone" in folders, [each for each in folders if each != "--alone"]
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        spark = start_session(Path(name) / "warehouse")
        # As the entry says by `using`; Spark 3.5 makes a table of Hive otherwise.
        spark.conf.set("spark.sql.sources.default", "delta")
        spark.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
        engine = Engine(spark, Path(name))
        for named in folders:
            folder, _, first = named.partition(":")
            counts: Counter[str] = Counter()
            behind = chain(altered(engine, Path(folder)), judged(engine, Path(folder), int(first or 0)))
            every = alone(engine, Path(folder)) if is_alone else behind
            for what, place, words in every:
                counts[what] += 1
                if words:
                    sys.stdout.write(f"# {what}: {place}: {words}\n")
                if time.monotonic() > until:
                    sys.stdout.write(f"# not ended: {sum(counts.values())} of {named} were asked\n")
                    break
            sys.stdout.write(f"- {named}: {dict(sorted(counts.items()))}\n")
            sys.stdout.flush()
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
