"""Print tables as dbt declares them: the YAML of models with an enforced contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.base.document import print_scalar
from schemalint.delta.path import split_path
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract


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
