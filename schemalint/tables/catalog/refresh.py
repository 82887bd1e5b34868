"""Bring a catalog's entry of a table to what the log says, after a run changed the table."""

from __future__ import annotations

from schemalint.base.errors import LiveError, SchemalintError
from schemalint.model.contract import Contract
from schemalint.tables.catalog import open_catalog
from schemalint.tables.catalog.target_tables import TargetTables


def refresh_entry(contract: Contract, tables: TargetTables) -> SchemalintError | None:
    """Bring the entry of a contract's table up to date, which writes to the catalog; see `Catalog.refresh`.

    A catalog that only a Spark session knows is left to Spark.

    Returns:
        Why the entry may still be as it was before; None if it is up to date.
    """
    if tables.target.catalog_uri is None or contract.location is not None:
        return None
    try:
        table = tables.read(contract)
        if table is not None:
            open_catalog(tables.target).refresh(table)
    except LiveError as error:
        return error
    return None
