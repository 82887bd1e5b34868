"""Models of dbt as contracts: ``manifest.json`` of versions 10 to 12, with types from ``catalog.json``.

The manifest is what dbt made of the project; no SQL and no Jinja of the project is read here.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from schemalint.base.errors import ContractError, Location
from schemalint.base.printable import visible
from schemalint.contract.dialects import Origin, Reading, Source
from schemalint.contract.dialects.dbt.manifest import mapping, parse_manifest, read_catalog, text
from schemalint.contract.dialects.dbt.models import Model, Models, counted, origin_commit
from schemalint.contract.dialects.dbt.positions import SchemaFiles

EXPRESSES: Final = frozenset(
    {"comment", "description", "partitioned_by", "clustered_by", "constraints", "properties"}
)


def read(source: Source) -> Reading:
    """Return the tables of the models with an enforced contract, and of those that the settings name."""
    file, settings = visible(source.file), source.settings
    try:
        manifest = parse_manifest(source.data, file, settings.most_mib)
    except ContractError as error:
        return Reading(errors=(error,))
    catalog, fault = read_catalog(
        source.read(settings.catalog_path), visible(settings.catalog_path), settings.most_mib
    )
    models = Models(manifest, file, settings.models, catalog, SchemaFiles(settings.folder, source.read))
    left_out: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    by_name: dict[str, Model] = {}
    errors = [] if fault is None else [fault]
    unreadable: set[str] = set()
    for node in models.chosen(left_out, reasons):
        try:
            model = models.model(node)
        except ContractError as error:
            errors.append(error)
            unreadable.add(text(node, "unique_id"))
            continue
        first = by_name.setdefault(model.contract.key, model)
        if first is not model:
            errors.append(_twice(first, model))
    metadata = mapping(manifest, "metadata")
    return Reading(
        contracts=tuple(model.contract for model in by_name.values()),
        errors=tuple(errors),
        identities={key: model.unique_id for key, model in by_name.items()},
        observed={key: model.observed for key, model in by_name.items()},
        left_out=(*counted(left_out), *(said for model in by_name.values() for said in model.left_out)),
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
