"""Join what a file of another tool declares with what a contract of schemalint's own format adds to it."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator

from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.delta.datatype import Struct
from schemalint.model.contract import Contract


def extended(declared: Contract, overlay: Contract) -> tuple[Contract, tuple[ContractError, ...]]:
    """Return the table of both, whose positions lead into either file, and where the two disagree.

    The declaration has the columns. What only the overlay says counts; what both say must agree.

    Args:
        declared: What the file of the other tool declares.
        overlay: What extends it.
    """
    names = {new.lower(): old for new, old in overlay.renamed_from.items()}
    columns = Struct(
        tuple(
            replace(column, renamed_from=names.get(column.name.lower()))
            for column in declared.state.columns.fields
        )
    )
    state = replace(
        declared.state,
        columns=columns,
        properties={**overlay.state.properties, **declared.state.properties},
        dropped=overlay.state.dropped,
    )
    joined = replace(
        declared,
        state=state,
        location=overlay.location,
        owner=overlay.owner or declared.owner,
        protocol=overlay.protocol,
        open=overlay.open if overlay.open.columns or overlay.open.widening else declared.open,
        consumers=(*declared.consumers, *overlay.consumers),
        named_consumers=overlay.named_consumers,
        exceptions=overlay.exceptions,
        anchors=ChainMap({}, declared.anchors, overlay.anchors),  # type: ignore[arg-type]  # only read
    )
    return joined, tuple(_disagreements(declared, overlay))


def nothing_to_extend(overlay: Contract) -> ContractError:
    """Return the error of a contract that extends a declaration which no file has."""
    return ContractError(
        f"no file of {overlay.extends} declares {overlay.table}",
        help="correct the name, or declare `columns` instead of `extends`",
        location=overlay.locate(("table",)),
    )


def _disagreements(declared: Contract, overlay: Contract) -> Iterator[ContractError]:
    for key, value in overlay.state.properties.items():
        if declared.state.properties.get(key, value) != value:
            yield ContractError(
                f"{key} is {value} here, and {declared.state.properties[key]} in the declaration of "
                f"{declared.managed_by}",
                help="say it in one place",
                location=overlay.locate(("property", key)),
            )
    names = {column.name.lower() for column in declared.state.columns.fields}
    for new in overlay.renamed_from:
        if new.lower() not in names:
            yield ContractError(
                f"{declared.managed_by} declares no column {new} in {declared.table}",
                help="correct the name, or remove the line",
                location=overlay.locate(("renamed_from",)),
            )
