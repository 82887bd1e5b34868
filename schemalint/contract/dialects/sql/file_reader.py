"""Read the statements of one file in their order, and keep what they say of tables of Delta.

What declares no table is counted by its kind. A statement that nobody knows is an error: it might declare
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from schemalint.base.errors import ContractError
from schemalint.contract.dialects.sql.alterations import Alterations
from schemalint.contract.dialects.sql.create_table import read_create_table
from schemalint.contract.dialects.sql.cursor import LEAVE_OUT, Cursor
from schemalint.contract.dialects.sql.lexer import SqlText, Token, statements, too_deep
from schemalint.contract.dialects.sql.names import Namespace, TableName, read_name
from schemalint.contract.dialects.sql.table import Table
from schemalint.contract.dialects.sql.variables import Variables
from schemalint.model.contract import FileFormat, table_key

# fmt: off
_ELSEWHERE: Final = frozenset({
    "ADD", "ANALYZE", "APPLY", "CACHE", "CALL", "CLEAR", "CONVERT", "COPY", "DECLARE", "DELETE", "DENY",
    "DESC", "DESCRIBE", "DFS", "EXECUTE", "EXPLAIN", "EXPORT", "FROM", "FSCK", "GENERATE", "GET", "GRANT",
    "IMPORT",
    "INSERT",
    "LIST", "LOAD", "LOCK", "MAP", "MERGE", "MSCK", "OPTIMIZE", "PUT", "REDUCE", "REFRESH", "REMOVE",
    "REORG", "REPAIR", "RESET", "RESTORE", "REVOKE", "SELECT", "SET", "SHOW", "SYNC", "TABLE", "TRUNCATE",
    "UNCACHE", "UNDROP", "UNLOCK", "UNSET", "UPDATE", "VACUUM", "VALUES", "WITH",
})
"""Words that begin a statement which declares no table."""

_OBJECTS: Final = frozenset({
    "BUNDLE", "CATALOG", "CONNECTION", "CREDENTIAL", "DATABASE", "EXTERNAL", "FLOW", "FOREIGN", "FUNCTION",
    "GLOBAL", "GROUP", "INDEX", "LIVE", "LOCATION", "MATERIALIZED", "NAMESPACE", "POLICY", "PRIVATE",
    "PROCEDURE", "PROVIDER", "RECIPIENT", "ROLE", "SCHEMA", "SECRET", "SERVER", "SERVICE", "SHARE", "STORAGE",
    "STREAMING", "TEMP", "TEMPORARY", "USER", "VARIABLE", "VIEW", "VOLUME", "WIDGET", "BLOOMFILTER",
    "REFRESH", "BRANCH", "TAG", "METRIC",
})
"""What CREATE, DROP and ALTER are about, other than a table."""
# fmt: on

_RELATIONS: Final = frozenset({"TABLE", "VIEW"})
"""What ALTER TABLE and COMMENT ON TABLE can be about."""

_ABOUT_STATEMENTS: Final = frozenset({"GRANT", "REVOKE", "DENY", "SHOW", "EXPLAIN"})
"""Statements with the words of others in them: ``GRANT CREATE TABLE``."""

_MODIFIERS: Final = frozenset(
    {"OR", "REPLACE", "REFRESH", "TEMP", "TEMPORARY", "GLOBAL", "EXTERNAL", "FOREIGN"}
)


class FileReader:
    """Reads one file.

    Attributes:
        tables: The tables so far, by their keys.
        errors: What cannot be read.
        skipped: How often each kind of statement was left out.
    """

    def __init__(self, source: SqlText, settings: FileFormat) -> None:
        self._source, self._settings = source, settings
        self._variables = Variables(source, dict(settings.variables))
        self._namespace = Namespace()
        self._dropped: dict[str, Cursor] = {}
        self._created: set[str | None] = set()  # keys of the tables and views, read or not
        self.tables: dict[str, Table] = {}
        self.errors: list[ContractError] = []
        self.skipped: Counter[str] = Counter()

    def read(self) -> None:
        """Read all statements; an error ends that of one statement, or of the file if nothing can be told."""
        try:
            for tokens in statements(self._source):
                self._read_safely(tokens)
        except ContractError as error:
            self.errors.append(error)

    def _read_safely(self, tokens: Sequence[Token]) -> None:
        try:
            self._statement(tokens)
        except ContractError as error:
            self.errors.append(error)

    def _statement(self, tokens: Sequence[Token]) -> None:
        tokens = _without_magic(tokens)
        if not tokens:
            return
        first, second = tokens[0], tokens[1] if len(tokens) > 1 else tokens[0]
        words = first.word, second.word
        match words:
            case ("CREATE" | "REPLACE", _):
                self._create(tokens)
            case ("ALTER", "TABLE"):
                self._alter(tokens)
            case ("COMMENT", "ON"):
                self._comment(tokens)
            case ("DROP", "TABLE"):
                self._drop(tokens)
            case ("USE", _) | ("SET", "CATALOG"):
                self._use(tokens)
            case ("", language) if first.text == "%":
                self.skipped[f"cell of {language}"] += 1
            case ("BEGIN", _):
                raise self._unknown(first, "statements between BEGIN and END are a script, not declarations")
            case ("ALTER" | "DROP", object_) if object_ in _OBJECTS:
                self._skip(f"{first.word} {object_}", tokens)
            case (word, _) if word in _ELSEWHERE or first.text == "(":
                self._skip(word or "SELECT", tokens)
            case _:
                raise self._unknown(
                    first, f"schemalint knows no statement that begins with {first.text[:40]}"
                )

    def _alter(self, tokens: Sequence[Token]) -> None:
        if self._is_left_out(self._name_in(tokens[2:])):
            self.skipped["ALTER TABLE of what is left out"] += 1
        else:
            self._alterations(tokens).alter_table()

    def _comment(self, tokens: Sequence[Token]) -> None:
        what = Cursor(self._source, tokens[2:]).next
        if what.word in {"TABLE", "COLUMN"}:
            name = self._name_in(tokens[3:])
            if self._is_left_out(name[:-1] if what.word == "COLUMN" else name):
                self.skipped["COMMENT ON of what is left out"] += 1
            else:
                self._alterations(tokens).comment_on()
        elif what.word in _OBJECTS:
            self._skip(f"COMMENT ON {what.word}", tokens)
        else:
            raise self._unknown(tokens[0], "a comment on nothing that schemalint knows")

    def _name_in(self, tokens: Sequence[Token]) -> tuple[str, ...]:
        """Return the parts of the name that is next; none where it cannot be read, which is said later."""
        try:
            return read_name(Cursor(self._source, tokens), self._variables).parts
        except ContractError:
            return ()

    def _key(self, parts: tuple[str, ...]) -> str | None:
        """Return the key of a table by its name; None if that cannot be completed."""
        cursor = Cursor(self._source, ())
        if not parts:
            return None
        try:
            return table_key(str(self._namespace.complete(cursor, TableName(parts, cursor.next.span))))
        except ContractError:
            return None

    def _is_left_out(self, name: tuple[str, ...]) -> bool:
        """Whether the file creates what has a name, and it is no table that was read."""
        key = self._key(name)
        return key is not None and key in self._created and key not in self.tables

    def _unknown(self, token: Token, message: str) -> ContractError:
        help_text = f"{LEAVE_OUT}: path names the files that declare tables"
        return self._source.error(token.span, message, help_text)

    def _skip(self, kind: str, tokens: Sequence[Token]) -> None:
        """Count a statement that declares no table, unless it swallows one that does."""
        swallowed = None if kind in _ABOUT_STATEMENTS else _swallowed(tokens)
        if swallowed is not None:
            message = "a statement begins here, and the one before does not end"
            raise self._source.error(swallowed.span, message, "write a semicolon between them")
        self.skipped[kind] += 1

    def _cursor(self, tokens: Sequence[Token]) -> Cursor:
        deep = too_deep(tokens)
        if deep is not None:
            raise self._source.error(
                deep.span, "brackets are nested too deep", "write it with fewer brackets"
            )
        return Cursor(self._source, tokens)

    def _alterations(self, tokens: Sequence[Token]) -> Alterations:
        return Alterations(self._cursor(tokens), self.tables, self._variables, self._namespace)

    def _create(self, tokens: Sequence[Token]) -> None:
        what = _created(tokens)
        if what is not None and not _RELATIONS.isdisjoint(what.split()):
            self._created.add(self._key(self._name_in(_behind_kind(tokens))))
        if what != "TABLE":
            if what is None:
                raise self._unknown(tokens[0], "this statement creates nothing that schemalint knows")
            if what == "PROCEDURE" and any(token.word == "BEGIN" for token in tokens):
                raise self._unknown(tokens[0], "a procedure is a script, not a declaration")
            self._skip(f"CREATE {what}", tokens)
            return
        table = read_create_table(self._cursor(tokens), self._settings, self._variables, self._namespace)
        if isinstance(table, str):
            self.skipped[table] += 1
            return
        key = table_key(str(table.name))
        if key in self.tables:
            first = self._source.location(self.tables[key].name.span)
            message = f"{table.name} is created twice; the first time in line {first.line}"
            raise self._source.error(table.name.span, message, "remove one of the two")
        self.tables[key] = table
        if key in self._dropped:
            raise self._emptied(table, self._dropped[key])

    def _drop(self, tokens: Sequence[Token]) -> None:
        cursor = self._cursor(tokens)
        cursor.require("DROP", "TABLE")
        cursor.accept("IF", "EXISTS")
        key = table_key(str(self._namespace.complete(cursor, read_name(cursor, self._variables))))
        if key in self.tables:
            raise self._emptied(self.tables[key], cursor)
        self._dropped[key] = cursor
        self.skipped["DROP TABLE"] += 1

    def _emptied(self, table: Table, drop: Cursor) -> ContractError:
        return self._source.error(
            drop.since(drop.last),
            f"the file drops {table.name} and creates it: who runs it loses all rows",
            "remove the DROP TABLE",
        )

    def _use(self, tokens: Sequence[Token]) -> None:
        cursor = self._cursor(tokens)
        is_catalog = cursor.accept("SET", "CATALOG") or cursor.accept("USE", "CATALOG")
        if not is_catalog:
            cursor.require("USE")
            for word in ("SCHEMA", "DATABASE", "NAMESPACE"):
                if cursor.ahead(1).kind != "end" and cursor.accept(word):
                    break
        is_text = is_catalog and cursor.next.kind == "string"
        parts = (cursor.text(),) if is_text else read_name(cursor, self._variables).parts
        cursor.require_end()
        self._namespace = self._namespace.use(parts, "catalog" if is_catalog else "schema")
        self.skipped["USE"] += 1


def _behind_kind(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return what follows TABLE or VIEW, and IF NOT EXISTS, in a CREATE; nothing where it has neither."""
    words = [token.word for token in tokens]
    index = next((index for index, word in enumerate(words) if word in _RELATIONS), len(words))
    if words[index + 1 : index + 4] == ["IF", "NOT", "EXISTS"]:
        index += 3
    return tokens[index + 1 :]


def _without_magic(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return a cell of a notebook without its first line ``%sql``."""
    is_sql = len(tokens) > 1 and tokens[0].text == "%" and tokens[1].word == "SQL"
    return tokens[2:] if is_sql else tokens


def _swallowed(tokens: Sequence[Token]) -> Token | None:
    """Return the CREATE of a table behind the first word of a statement, outside of brackets."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
        elif index and depth == 0 and token.word == "CREATE" and _created(tokens[index:]) == "TABLE":
            return token
    return None


def _created(tokens: Sequence[Token]) -> str | None:
    """Return what a CREATE makes: ``TABLE``, or the word for something else; None for an unknown word."""
    words = [token.word for token in tokens[:6]]
    if words[0] == "REPLACE":
        words.insert(0, "CREATE")
    index = 1
    while index < len(words) and words[index] in _MODIFIERS:
        index += 1
    what = words[index] if index < len(words) else ""
    before = frozenset(words[1:index])
    if what == "TABLE":
        if before & {"TEMP", "TEMPORARY", "GLOBAL"}:
            return "TEMPORARY TABLE"
        return "TABLE of a pipeline" if "REFRESH" in before else "TABLE"
    if what in {"STREAMING", "LIVE", "MATERIALIZED", "PRIVATE"}:
        return f"{what} {'VIEW' if 'VIEW' in words else 'TABLE'}"
    if what in _OBJECTS:
        return what
    return next((word for word in words[index:] if word in _OBJECTS), None)
