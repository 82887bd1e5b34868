"""A git branch with one contract, and the tables as earlier runs left them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from schemalint.base.values import replace
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.datatype import Field, map_fields
from schemalint.delta.path import format_path
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.deploy.last_applied import LastApplied, drift, find_last_applied
from schemalint.model.declaration import created_state
from schemalint.model.marker import Marker, declaration_hash
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.planner import PlanOptions, after_interrupted_run, plan_table
from schemalint.project.git import DEFAULT_GLOBS, Revision, open_repository, resolve
from support.effective import counting

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.model.contract import Contract
    from support.repo import Repo

KEY = "sales.orders"
A_B = "{name: a, type: int}, {name: b, type: int}"
A_B_C = f"{A_B}, {{name: c, type: date}}"
A2_B = "{name: a2, type: int, renamed_from: a}, {name: b, type: int}"
SWAPPED = "{name: b, type: int, renamed_from: a}, {name: a, type: int, renamed_from: b}"


@dataclass
class Branch:
    """A repository with one contract; builds the tables that applying its revisions leads to."""

    repo: Repo
    file: str = "orders.yml"

    def declare(self, columns: str, more: str = "") -> str:
        """Commit the contract with these columns, column mapping and type widening; return the commit."""
        self.write(columns, more)
        return self.repo.commit()

    def write(self, columns: str, more: str = "") -> None:
        properties = "properties: {delta.columnMapping.mode: name, delta.enableTypeWidening: true, team: x}"
        text = f"schemalint: 1\ntable: Sales.Orders\ncolumns: [{columns}]\n{properties}\n{more}\n"
        self.repo.write(self.file, text)

    def revisions(self, head: str = "HEAD") -> Revisions:
        repository = open_repository(self.repo.path, self.repo.env)
        commit = resolve(repository, head)
        return Revisions(repository, ContractFiles(DEFAULT_GLOBS), "prod", Revision(commit, commit, "head"))

    def contract(self, commit: str = "HEAD") -> Contract:
        revisions = self.revisions(commit)
        contract = revisions.at(revisions.tip, KEY)
        assert contract is not None
        return contract

    def live(self, commit: str, *, marked: bool = True, more: str = "") -> LiveTable:
        """Return the table after applying a revision, with additional undeclared columns."""
        contract = self.contract(commit)
        state, ids = created_state(contract.state), count(1)
        extra = tuple(Field(name, contract.state.columns.fields[0].type) for name in more.split())
        columns = replace(state.columns, fields=(*state.columns.fields, *extra))
        state = replace(
            state,
            columns=map_fields(columns, lambda _path, field: replace(field, column_id=next(ids))),
            features=contract.created_features,
        )
        table = LiveTable("/lake/orders", 3, Protocol(3, 7), Metadata("id", state))
        return self.marked(table, commit) if marked else table

    def marked(self, table: LiveTable, commit: str) -> LiveTable:
        return with_marker(table, Marker(declaration_hash(self.contract(commit)), commit))

    def find(
        self, table: LiveTable, head: str = "HEAD", *, base: str | None = None, allow_older: bool = False
    ) -> LastApplied | Refusal:
        revisions = self.revisions(head)
        return find_last_applied(
            revisions, counting(self.contract(head)), table, base=base, allow_older=allow_older
        )

    def column_names(self, table: LiveTable, head: str = "HEAD", *, base: str | None = None) -> list[str]:
        """Return the column names in each revision from the one applied last on."""
        found = self.find(table, head, base=base)
        assert isinstance(found, LastApplied)
        return [
            " ".join(field.name for field in revision.state.columns.fields) for revision in found.revisions
        ]

    def plan(
        self,
        table: LiveTable,
        head: str = "HEAD",
        *,
        base: str | None = None,
        allow_older: bool = False,
        repair: bool = False,
    ) -> TablePlan:
        """Plan as `deploy` does."""
        contract = self.contract(head)
        begun = after_interrupted_run(counting(contract), table)
        found = self.find(begun, head, base=base, allow_older=allow_older)
        assert isinstance(found, LastApplied), found
        options = PlanOptions(found.tracking(begun.state.columns))
        refusals = tuple(drift(counting(contract), found, begun, options, repair=repair))
        if options.tracking and not found.is_way_back:
            refusals += tuple(
                Refusal(RefusalKind.RULE, f"{format_path(removed.path)} is left out")
                for removed in options.tracking.left_out
            )
        plan = plan_table(counting(contract), table, table.uri, options=options)
        return replace(plan, refusals=(*refusals, *plan.refusals))


def with_marker(table: LiveTable, marker: Marker) -> LiveTable:
    return replace(table, transactions={marker.app_id: 1})


def with_property(table: LiveTable, key: str, value: str) -> LiveTable:
    state = replace(table.state, properties={**table.state.properties, key: value})
    return replace(table, metadata=replace(table.metadata, state=state))


def with_field(table: LiveTable, name: str, update: Callable[[Field], Field]) -> LiveTable:
    """Return the table with a column altered by hand."""
    fields = tuple(update(field) if field.name == name else field for field in table.state.columns.fields)
    state = replace(table.state, columns=replace(table.state.columns, fields=fields))
    return replace(table, metadata=replace(table.metadata, state=state))


def without_field(table: LiveTable, name: str) -> LiveTable:
    fields = tuple(field for field in table.state.columns.fields if field.name != name)
    state = replace(table.state, columns=replace(table.state.columns, fields=fields))
    return replace(table, metadata=replace(table.metadata, state=state))


def outcome(plan: TablePlan) -> list[str]:
    """Return the planned changes of columns, or the reasons of the refusals."""
    if plan.refusals:
        return [refusal.reason for refusal in plan.refusals]
    return [
        f"{type(change).__name__} {format_path(path)}"
        for step in plan.steps
        for change in step.changes
        if (path := getattr(change, "path", None)) is not None
    ]


def reason(found: LastApplied | Refusal) -> str:
    assert isinstance(found, Refusal), found
    return found.reason
