"""The kinds of stores: each reference belongs to one of them at most."""

from __future__ import annotations

import pytest

from schemalint.base.errors import LiveError
from schemalint.base.modules import module_names, module_of
from schemalint.tables.storage import StoreKind, kinds, open_store

KINDS = [module_of(kinds, name, StoreKind) for name in module_names(kinds)]
REFERENCES = [
    "lake/orders",
    "/lake/orders",
    "C:/lake/orders",
    "file:/lake/orders",
    "s3://bucket/orders",
    "s3a://bucket/orders",
    "gs://bucket/orders",
    "az://container/orders",
    "abfss://container@account.dfs.core.windows.net/orders",
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_belongs_to_one_kind(reference: str) -> None:
    assert len([kind for kind in KINDS if kind.handles(reference)]) == 1


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LiveError) as caught:
        open_store("hdfs://host/orders")
    for kind in KINDS:
        assert all(f"{scheme}:" in caught.value.help for scheme in kind.SCHEMES)
