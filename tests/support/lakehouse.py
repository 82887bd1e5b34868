"""A repository of contracts and the folder of its tables, brought together by real applies."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemalint.deploy.outcome import Applied
from schemalint.spark.runner import apply
from schemalint.spark.session import sessions_beside
from schemalint.storage import read_table
from schemalint.values import replace
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable
    from schemalint.spark.session import SqlSession


@dataclass(frozen=True)
class Lakehouse:
    """A repository of contracts, with one target whose root is a folder in it."""

    repo: Repo
    session: SqlSession

    @classmethod
    def make(cls, place: Path, session: SqlSession) -> Lakehouse:
        """An empty one, in a folder that does not exist yet."""
        repo = Repo(place)
        repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
        repo.write(".gitignore", "lake/\n")
        (place / "lake").mkdir()
        return cls(repo, session)

    def copy(self, place: Path) -> Lakehouse:
        """Another one with the same history, the same tables and the same rows."""
        shutil.copytree(self.repo.path, place)
        return replace(self, repo=Repo(place))

    def declare(self, text: str, file: str = "orders") -> str:
        """Commit a contract; the commit."""
        self.repo.write(f"contracts/{file}.yml", text)
        return self.repo.commit()

    def apply(self, session: SqlSession | None = None, /, **options: object) -> Applied:
        """Apply the one contract that there is."""
        (applied,) = apply(session or self.session, self.repo.path, **options)  # type: ignore[arg-type]
        return applied

    @property
    def root(self) -> Path:
        """The folder of all tables."""
        return self.repo.path / "lake"

    @property
    def uri(self) -> str:
        """Where the table ``sales.orders`` lies."""
        return str(self.root / "sales/orders")

    def table(self) -> LiveTable:
        """The table ``sales.orders`` as its log says."""
        return read_table(self.uri)

    def another_session(self) -> SqlSession:
        """One that shares the engine, with settings of its own."""
        (one, *_others) = sessions_beside(self.session, 2)
        return one

    def sql(self, action: str) -> None:
        """Alter ``sales.orders`` as somebody else would."""
        self.session.sql(f"ALTER TABLE delta.`{self.uri}` {action}")

    def insert(self, values: str) -> None:
        """Add rows to ``sales.orders``."""
        self.session.sql(f"INSERT INTO delta.`{self.uri}` VALUES {values}")

    def rows(self) -> list[dict[str, object]]:
        """The rows of ``sales.orders``."""
        found = self.session.sql(f"SELECT * FROM delta.`{self.uri}`").collect()
        return sorted((row.asDict(recursive=True) for row in found), key=repr)
