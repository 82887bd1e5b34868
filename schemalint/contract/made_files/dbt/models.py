"""Turn the models of a manifest into contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from schemalint.base.errors import ContractError, Location
from schemalint.base.phrases import affixed
from schemalint.base.printable import visible
from schemalint.base.values import frozen
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.contract.made_files.dbt.manifest import (
    Catalog,
    Json,
    mapping,
    mappings,
    owner_of,
    readers_of,
    text,
    texts,
    title,
)
from schemalint.contract.made_files.dbt.positions import Anchors, ModelDescription, SchemaFiles
from schemalint.delta import properties
from schemalint.delta.datatype import UNMANAGED, DataType, Field, Managed, Struct
from schemalint.delta.equivalence import nameless_constraint
from schemalint.delta.path import Path, format_path, split_path
from schemalint.delta.table import TableState
from schemalint.delta.type_text import TypeTextError
from schemalint.model.contract import (
    Contract,
    ManagedHow,
    OnColumnChange,
    ProtocolLimits,
    WriterPermissions,
)
from schemalint.project.git.revisions import FULL_ID

_FORMATS: Final = {"databricks": "delta", "fabricspark": "delta", "spark": "parquet"}
"""The format of a table whose model names none, by dbt's adapter: dbt-databricks and dbt-fabricspark write
Delta, dbt-spark what Spark's ``USING`` defaults to, whose validation calls it parquet."""

_DATABRICKS: Final = "databricks"
"""The adapter that alters constraints and properties of tables which exist. dbt-spark makes CHECK constraints
of models, never of columns: ``spark__alter_column_set_constraints``."""

_HOW: Final[Mapping[str, ManagedHow]] = {"table": "replace", "incremental": "alter", "snapshot": "alter"}
"""How dbt brings a table to its declaration, by materialization."""

_ON_CHANGE: Final[Mapping[str, OnColumnChange]] = {
    "append_new_columns": "append",
    "sync_all_columns": "sync",
    "fail": "fail",
    "ignore": "ignore",
}


@frozen
class Model:
    """What one model declares.

    Attributes:
        unique_id: What dbt calls it in every run.
        contract: Its table.
        observed: The columns whose type the catalog has, in lower case.
        left_out: What of it is not compared.
    """

    unique_id: str
    contract: Contract
    observed: frozenset[str]
    left_out: tuple[str, ...]


@frozen
class Models:
    """The models of one manifest, and what positions and types they have elsewhere."""

    manifest: Json
    file: str
    globs: tuple[str, ...]
    catalog: Catalog
    schemas: SchemaFiles

    @property
    def adapter(self) -> str:
        """The name of dbt's adapter."""
        return text(mapping(self.manifest, "metadata"), "adapter_type")

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of the project that its models are made from and described in."""
        project = text(mapping(self.manifest, "metadata"), "project_name")
        paths: dict[str, None] = {}
        for node in mappings(self.manifest, "nodes"):
            if text(node, "package_name") == project:
                described_in = text(node, "patch_path").removeprefix(f"{project}://")
                paths |= dict.fromkeys((described_in, text(node, "original_file_path")))
        return tuple(self.schemas.below + path for path in paths if path)

    def chosen(
        self, left_out: Counter[str], without_contract: Counter[str], reasons: dict[str, str]
    ) -> Iterator[Json]:
        """Yield the models whose tables are compared, with live tables alone if they have no contract.

        Args:
            left_out: Counts the other nodes by what they are.
            without_contract: Counts the models without a contract.
            reasons: Gets why there is no contract to compare, by unique id.
        """
        for node in mappings(self.manifest, "nodes"):
            kind = text(node, "resource_type")
            if kind == "seed":
                left_out["seed"] += 1
            if kind not in ("model", "snapshot"):
                continue
            what = self._left_out(node, kind)
            if what is None:
                yield node
                if self.is_contracted(node):
                    continue
                what = f"{kind} without an enforced contract and not named in `models`"
                without_contract[what] += 1
            else:
                left_out[what] += 1
            is_kind = what.partition(" ")[0] in ("model", "snapshot")
            said = f"is {what.partition(' ')[2]}" if is_kind else f"is materialized as {what}"
            reasons[text(node, "unique_id")] = f"{title(node)} {said}"
        for identity in mapping(self.manifest, "disabled"):
            reasons.setdefault(identity, f"{identity} is disabled")

    def _left_out(self, node: Json, kind: str) -> str | None:
        """Return what a model is that is not compared; None for others."""
        config = mapping(node, "config")
        file_format = text(config, "file_format") or _FORMATS.get(self.adapter, "an unknown format")
        materialized, table_format = text(config, "materialized"), text(config, "table_format")
        if materialized not in _HOW:
            return materialized.replace("_", " ") or "other node"
        if file_format != "delta" or table_format == "iceberg":
            return f"{kind} in {table_format or file_format}"
        return None

    def is_contracted(self, node: Json) -> bool:
        """Whether dbt enforces the contract of a model, or the settings name it."""
        return _is_enforced(node) or self._is_named(node)

    def model(self, node: Json) -> Model:
        """Return what a model declares.

        A model that nobody contracted has the columns that its query returns, whatever its YAML says.

        Raises:
            ContractError: Its table has no name, a column has no type or one that Delta does not have, or the
                clustering names no column.
        """
        if not text(node, "alias"):
            message, help_text = f"{title(node)}: its table has no name", "make the file again: dbt parse"
            raise ContractError(message, help=help_text, location=Location(self.file))
        config, version = mapping(node, "config"), node.get("version")
        described = ModelDescription(
            text(node, "patch_path"),
            "snapshots" if text(node, "resource_type") == "snapshot" else "models",
            text(node, "name"),
            "" if version is None else str(version),
        )
        sql = visible(affixed(self.schemas.below, text(node, "original_file_path")))
        file = self.schemas.path_of(described) or sql or self.file
        anchors = Anchors(self.schemas, described)
        is_contracted = self.is_contracted(node)
        columns = _Columns(self, node, anchors, file)
        fields = tuple(columns.fields()) if is_contracted else ()
        # With it, `should_full_refresh` of dbt lets each run build an incremental model anew.
        is_refreshed = config.get("full_refresh") is True
        how = "replace" if is_refreshed else _HOW[text(config, "materialized")]
        is_renamed = config.get("use_safer_relation_operations") is True and how == "replace"
        contract = Contract(
            table=_table_name(node),
            state=TableState(
                columns=Struct(fields),
                description=_documented(node, "relation", node),
                partitioned_by=texts(config, "partition_by"),
                clustered_by=self._clustering(node, anchors, file),
                constraints=self._checks(node),
                properties=_properties(config),
            ),
            owner=owner_of(self.manifest, node),
            managed_by="dbt",
            managed_how="rename" if is_renamed else how,
            on_column_change=_on_change(node) if how == "alter" else None,
            alters_settings=self.adapter == _DATABRICKS
            and config.get("incremental_apply_config_changes") is not False,
            is_contracted=is_contracted,
            protocol=ProtocolLimits(allow_upgrade=not is_contracted),
            open=WriterPermissions(columns=bool(columns.untyped) or not is_contracted),
            consumers=readers_of(self.manifest, text(node, "unique_id")),
            file=file,
            anchors=anchors,
        )
        said = (
            [f"{len(columns.untyped)} columns without a type of {contract.table}"] if columns.untyped else []
        )
        return Model(text(node, "unique_id"), contract, frozenset(columns.observed), tuple(said))

    def _is_named(self, node: Json) -> bool:
        path = PurePosixPath(text(node, "original_file_path"))
        for glob in self.globs:
            pattern = glob.removeprefix("path:").rstrip("/")
            if path.is_relative_to(pattern) or path.match(pattern):
                return True
        return False

    def _clustering(self, node: Json, anchors: Anchors, file: str) -> Managed[tuple[Path, ...]]:
        """Return the clustering; dbt-spark cannot say it, and AUTO leaves it to Databricks."""
        config = mapping(node, "config")
        names = texts(config, "liquid_clustered_by")
        if not names and (self.adapter != "databricks" or config.get("auto_liquid_cluster") is True):
            return UNMANAGED
        paths: list[Path] = []
        for name in names:
            try:
                paths.append(split_path(name))
            except ValueError as error:
                message = f"{title(node)}: liquid_clustered_by names no column: {name!r}: {error}"
                location = anchors.get(("table",)) or Location(file)
                raise ContractError(message, help="write it as column.field", location=location) from None
        return tuple(paths)

    def _checks(self, node: Json) -> dict[str, str | None]:
        """Return the CHECK constraints by name; without one, dbt makes it up (``chk_…`` or a hash)."""
        if not _is_enforced(node):
            return {}
        constraints = [*mappings(node, "constraints")]
        if self.adapter == _DATABRICKS:
            constraints += [
                each for column in mappings(node, "columns") for each in mappings(column, "constraints")
            ]
        checks = [
            (text(each, "name").lower(), text(each, "expression"))
            for each in constraints
            if text(each, "type") == "check"
        ]
        return {name or nameless_constraint(expression): expression for name, expression in checks}


class _Columns:
    """The columns of one model.

    Attributes:
        observed: The columns whose type the catalog has, in lower case.
        untyped: Those whose type nobody says.
    """

    def __init__(self, models: Models, node: Json, anchors: Anchors, file: str) -> None:
        self._models, self._node, self._anchors, self._file = models, node, anchors, file
        self._observed = models.catalog.get(text(node, "unique_id"), {})
        self._is_enforced = _is_enforced(node)
        self.observed: set[str] = set()
        self.untyped: set[str] = set()

    def fields(self) -> Iterator[Field]:
        """Yield the columns: those that the model declares, then those that only the catalog has."""
        required = _required(self._node) if self._is_enforced else frozenset()
        declared: set[str] = set()
        for column in mappings(self._node, "columns"):
            name = text(column, "name")
            declared.add(name.lower())
            type_ = self._type(name, text(column, "data_type"))
            if type_ is not None:
                yield Field(
                    name,
                    type_,
                    nullable=name.lower() not in required,
                    comment=_documented(self._node, "columns", column),
                )
        if self._is_enforced:
            return
        for name in self._observed:
            if name not in declared and (type_ := self._type(name, "")) is not None:
                yield Field(name, type_, comment=UNMANAGED)

    def _type(self, name: str, type_text: str) -> DataType | None:
        """Return the type of a column; None if nobody says it."""
        if type_text:
            try:
                return declared_type(type_text)
            except TypeTextError as error:
                column = f"{title(self._node)}: column {name}"
                message = f"{column} has no type of Spark: {type_text!r}: {error.message}"
                at = ("type", (name.lower(),))
                raise self._error(message, at, "write it as Spark SQL has it") from None
        if self._is_enforced:
            message = f"{title(self._node)}: column {name} has no data_type, though its contract is enforced"
            raise self._error(message, ("column", (name.lower(),)), "add data_type")
        observed = self._observed.get(name.lower(), "")
        try:
            type_ = declared_type(observed)
        except TypeTextError:
            self.untyped.add(name.lower())
            return None
        self.observed.add(name.lower())
        return type_

    def _error(self, message: str, anchor: tuple[str, Path], help_text: str) -> ContractError:
        location = self._anchors.get(anchor) or Location(self._file)
        return ContractError(message, help=help_text, location=location)


def origin_commit(metadata: Json) -> str | None:
    """Return the commit that an environment variable of dbt (``DBT_ENV_CUSTOM_ENV_…``) names."""
    values = (value for value in mapping(metadata, "env").values() if isinstance(value, str))
    return next(filter(FULL_ID.fullmatch, values), None)


def counted(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield how many of each kind are left out: ``2 views``."""
    for kind, number in sorted(left_out.items()):
        word, _, rest = kind.partition(" ")
        if number == 1:
            yield f"1 {kind}"
        elif rest[:1] in "iw":
            yield f"{number} {word}s {rest}".strip()
        else:
            yield f"{number} {kind}s"


def _is_enforced(node: Json) -> bool:
    """Whether dbt enforces the contract of a model."""
    return mapping(mapping(node, "config"), "contract").get("enforced") is True


def _table_name(node: Json) -> str:
    parts: Iterable[str] = (text(node, key) for key in ("database", "schema", "alias"))
    return format_path(tuple(part for part in parts if part))


def _required(node: Json) -> frozenset[str]:
    """Return the columns that cannot be null, in lower case."""
    names = {
        text(column, "name")
        for column in mappings(node, "columns")
        if any(text(each, "type") == "not_null" for each in mappings(column, "constraints"))
    }
    for each in mappings(node, "constraints"):
        if text(each, "type") == "not_null":
            names.update(texts(each, "columns"))
    return frozenset(name.lower() for name in names)


def _documented(node: Json, part: str, described: Json) -> Managed[str | None]:
    """Return the comment that dbt writes; it writes none that is empty."""
    is_written = mapping(mapping(node, "config"), "persist_docs").get(part) is True
    if is_written:
        return text(described, "description") or UNMANAGED
    return UNMANAGED


def _properties(config: Json) -> dict[str, str | None]:
    return {
        properties.canonical(key): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in mapping(config, "tblproperties").items()
        if isinstance(value, str | int | float | bool)
    }


def _on_change(node: Json) -> OnColumnChange:
    """Return what dbt does when columns differ; a snapshot gets new ones, whatever is configured."""
    if text(node, "resource_type") == "snapshot":
        return "append"
    return _ON_CHANGE.get(text(mapping(node, "config"), "on_schema_change"), "ignore")
