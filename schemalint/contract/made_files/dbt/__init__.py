"""Models of dbt as contracts: ``manifest.json`` of versions 10 to 12, with types from ``catalog.json``.

The manifest is what dbt made of the project; no SQL and no Jinja of the project is read here. `print_models`
prints tables as dbt declares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.base.document import print_scalar
from schemalint.base.errors import ContractError, Location
from schemalint.base.printable import visible
from schemalint.base.wording import Wording
from schemalint.contract.made_files import MadeReading, Origin, Source
from schemalint.contract.made_files.dbt.manifest import mapping, parse_manifest, read_catalog, text
from schemalint.contract.made_files.dbt.models import Model, Models, counted, origin_commit
from schemalint.contract.made_files.dbt.positions import SchemaFiles
from schemalint.delta.path import split_path
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract

EXPRESSES: Final = frozenset(
    {"comment", "description", "owner", "partitioned_by", "clustered_by", "constraints", "properties"}
)

WORDING: Final = Wording(
    set_property="set `{key}: '{value}'` under `tblproperties`",
    request_feature="set `delta.feature.{name}: supported` under `tblproperties`",
    request_too="request {missing} too",
    list_features="under `tblproperties`: `delta.feature.NAME: supported`",
    drop_feature="`ALTER TABLE … DROP FEATURE {name}`",
    allow_upgrade="`protocol: {allow_upgrade: true}` in a contract with `extends: dbt`",
    drop_column="list it in a contract with `extends: dbt`: `dropped: [{path}]`",
    neither="and nothing says that it is renamed or dropped",
    renamed_from="say so in a contract with `extends: dbt`: `renamed_from: {{{new}: {old}}}`",
    declare_rename="declare the rename in a contract with `extends: dbt`: `renamed_from: {{{new}: {old}}}`",
    keep_deprecated="keep it",
    clustered_by="`liquid_clustered_by`",
    partitioned_by="`partition_by`",
    declare_constraint="`constraints: [{{type: check, name: {name}, expression: {condition}}}]`",
    remove_constraint="run `ALTER TABLE … DROP CONSTRAINT {name}`",
    remove_property="run `ALTER TABLE … UNSET TBLPROPERTIES ('{key}')`",
    fill="fill {column}",
    drop_old="drop {column}",
    rewrite="",
    drop_undeclared="drop it",
    open_columns="allow it in a contract with `extends: dbt`: `open: {columns: true}`",
    open_widening="allow it in a contract with `extends: dbt`: `open: {widening: true}`",
    by_target="",
    default_value="leave it out for Delta's default",
    table_comment="the `description` of the model, with `persist_docs`",
    location="`location_root`",
    owner="the `owner` of a group",
    file="model",
)
"""What dbt cannot say stands in a contract of schemalint's own that extends the model."""


def read(source: Source) -> MadeReading:
    """Return the tables of the models with an enforced contract, and of those that the settings name.

    Of the other models only what dbt does to a table is known, and no fault of theirs is one of the run.
    """
    file, settings = visible(source.file), source.settings
    try:
        manifest = parse_manifest(source.data, file, settings.most_mib)
    except ContractError as error:
        return MadeReading(errors=(error,))
    catalog, fault = read_catalog(
        source.read(settings.catalog_path), visible(settings.catalog_path), settings.most_mib
    )
    models = Models(manifest, file, settings.models, catalog, SchemaFiles(settings.folder, source.read))
    left_out: Counter[str] = Counter()
    without_contract: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    by_name: dict[str, Model] = {}
    uncontracted: dict[str, Model] = {}
    errors = [] if fault is None else [fault]
    unreadable: set[str] = set()
    for node in models.chosen(left_out, without_contract, reasons):
        try:
            model = models.model(node)
        except ContractError as error:
            if models.is_contracted(node):
                errors.append(error)
                unreadable.add(text(node, "unique_id"))
            continue
        if not model.contract.is_contracted:
            uncontracted.setdefault(model.contract.key, model)
            continue
        first = by_name.setdefault(model.contract.key, model)
        if first is not model:
            errors.append(_twice(first, model))
    metadata = mapping(manifest, "metadata")
    without = {key: model for key, model in uncontracted.items() if key not in by_name}
    return MadeReading(
        contracts=tuple(model.contract for model in by_name.values()),
        uncontracted=tuple(model.contract for model in without.values()),
        errors=tuple(errors),
        identities={key: model.unique_id for key, model in (*without.items(), *by_name.items())},
        observed={key: model.observed for key, model in by_name.items()},
        left_out=(*counted(left_out), *(said for model in by_name.values() for said in model.left_out)),
        without_contract=(*counted(without_contract),),
        unreadable=frozenset(unreadable),
        reasons=reasons,
        sources=models.sources,
        text=models.schemas.text,
        origin=Origin(
            text(metadata, "project_name"),
            text(metadata, "generated_at"),
            origin_commit(metadata),
            variant=f"for the adapter {models.adapter or 'of no name'}",
        ),
    )


def _twice(first: Model, second: Model) -> ContractError:
    contract = second.contract
    return ContractError(
        f"{contract.table} is the table of two models: {first.unique_id} and {second.unique_id}",
        help="give one of them another alias",
        location=contract.anchors.get(("table",)) or Location(contract.file),
    )


def print_models(contracts: Iterable[Contract]) -> str:
    """Return the YAML that declares the columns of some tables, each as the model of its name.

    Raises:
        ContractError: A name has a lone surrogate, which YAML cannot represent.
    """
    return "\n".join(["models:", *(line for contract in contracts for line in _model(contract))]) + "\n"


def _model(contract: Contract) -> Iterator[str]:
    yield f"  - name: {print_scalar(split_path(contract.table)[-1])}"
    yield "    config: {contract: {enforced: true}}"
    yield "    columns:"
    for column in contract.state.columns.fields:
        yield f"      - name: {print_scalar(column.name)}"
        if not column.name.isidentifier():
            yield "        quote: true"
        yield f"        data_type: {print_scalar(print_type(column.type))}"
        if isinstance(column.comment, str):
            yield f"        description: {print_scalar(column.comment)}"
        if not column.nullable:
            yield "        constraints: [{type: not_null}]"
