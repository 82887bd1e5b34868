"""A repository of contracts with a folder of tables, to which tests apply the contracts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from schemalint.base.values import replace
from schemalint.deploy.deploy_input import DeployInput, DeployOptions
from schemalint.deploy.plan_file import read_plan_file
from schemalint.deploy.prepare import prepare
from schemalint.deploy.results import AppliedTable
from schemalint.deploy.resume import ResumeInput, resume
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.trust import ConfigOptions, find_trusted
from schemalint.report import plan as plans
from schemalint.review.rulebook import rules_for_apply
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply, apply_plan
from schemalint.spark.session import sibling_sessions
from schemalint.spark.session_catalog import SessionCatalog
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.storage import read_table
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from schemalint.delta.table import LiveTable
    from schemalint.spark.statements import SqlSession


UNCOMPILED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""The settings of a session that compiles no code."""
FOR_FEW_ROWS: Final = {
    **UNCOMPILED,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
"""For tables of few rows, Spark needs longer to compile and to plan than to run."""


@dataclass(frozen=True)
class Lakehouse:
    """A repository of contracts whose only target is a folder inside it."""

    repo: Repo
    session: SqlSession

    @classmethod
    def make(cls, folder: Path, session: SqlSession) -> Lakehouse:
        """Create a lakehouse without tables, in a folder that does not exist yet."""
        repo = Repo(folder)
        repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
        repo.write(".gitignore", "lake/\n")
        (folder / "lake").mkdir()
        return cls(repo, session)

    def copy(self, folder: Path) -> Lakehouse:
        """Copy the repository with all tables and rows."""
        shutil.copytree(self.repo.path, folder)
        return replace(self, repo=Repo(folder))

    def declare(self, text: str, file: str = "orders") -> str:
        """Commit a contract, and return the commit."""
        self.repo.write(f"contracts/{file}.yml", text)
        return self.repo.commit()

    def apply(self, session: SqlSession | None = None, /, **options: object) -> AppliedTable:
        """Apply the only contract of the repository."""
        (applied,) = apply(session or self.session, self.repo.path, ApplyOptions(**options))  # type: ignore[arg-type]
        return applied

    def plan(self, *allow: str, head: str = "HEAD") -> Path:
        """Write the plan of the only contract to a file, and return it."""
        repository = git.open_repository(self.repo.path, {})
        settings = find_trusted(repository, {})
        deployment = prepare(
            DeployInput(
                repository,
                settings,
                choose_target(settings, None),
                git.find_head(repository, head, {}),
                rules_for_apply(Config()),
                DeployOptions(allow=allow),
                via=SessionCatalog(lambda: self.session),
            )
        )
        refusals = [refusal.reason for plan in deployment.plan.tables for refusal in plan.refusals]
        assert (refusals, deployment.unplanned) == ([], ())
        file = self.repo.path.parent / f"{self.repo.path.name}.plan.json"
        file.write_text(plans.get("json").render(deployment), "utf-8")
        return file

    def go_on(
        self, file: Path, session: SqlSession | None = None, *, jobs: int = 1
    ) -> tuple[AppliedTable, ...]:
        """Apply what is left of a plan file, as approved; neither contracts nor git are read."""
        settings = find_trusted(None, {}, ConfigOptions(str(self.repo.path / "schemalint.toml")))
        via = SessionCatalog(lambda: self.session)
        journal = ResumeInput(
            read_plan_file(str(file)),
            str(file),
            settings,
            choose_target(settings, None),
            self.repo.path,
            via=via,
        )
        return apply_plan(session or self.session, resume(journal), ApplyOptions(jobs=jobs))

    @property
    def root(self) -> Path:
        """The folder of all tables."""
        return self.repo.path / "lake"

    @property
    def uri(self) -> str:
        """The location of the table ``sales.orders``."""
        return str(self.root / "sales/orders")

    def table(self) -> LiveTable:
        """Read the log of the table ``sales.orders``."""
        return read_table(self.uri)

    def another_session(self, settings: Mapping[str, str] = MappingProxyType({})) -> SqlSession:
        """Return a session of the same engine with its own settings."""
        session, *_more = sibling_sessions(self.session, 2)
        for key, value in settings.items():
            session.conf.set(key, value)
        return session

    def for_few_rows(self) -> Lakehouse:
        """Return the lakehouse with a session that neither compiles nor adapts its plans."""
        return replace(self, session=self.another_session(FOR_FEW_ROWS))

    def sql(self, action: str) -> None:
        """Alter ``sales.orders`` by hand, as another client would."""
        self.session.sql(f"ALTER TABLE delta.`{self.uri}` {action}")

    def insert(self, values: str) -> None:
        """Add rows to ``sales.orders``."""
        self.session.sql(f"INSERT INTO delta.`{self.uri}` VALUES {values}")

    def rows(self) -> list[dict[str, object]]:
        """Return the rows of ``sales.orders``, sorted."""
        rows = self.session.sql(f"SELECT * FROM delta.`{self.uri}`").collect()
        return sorted((row.asDict(recursive=True) for row in rows), key=repr)
