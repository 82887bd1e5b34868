"""Formats, stores, catalogs and dialects are listed modules: each has all that its interface names."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from schemalint.base.errors import InternalError
from schemalint.base.modules import module_names, module_of
from schemalint.contract import dialects, made_files
from schemalint.report import findings, plan
from schemalint.tables.catalog import CatalogKind
from schemalint.tables.catalog import kinds as catalogs
from schemalint.tables.storage import StoreKind
from schemalint.tables.storage import kinds as stores

INTERFACES: list[tuple[ModuleType, type]] = [
    (dialects, dialects.Dialect),
    (made_files, made_files.MadeFile),
    (findings, findings.Format),
    (plan, plan.Format),
    (catalogs, CatalogKind),
    (stores, StoreKind),
]


@pytest.mark.parametrize(("package", "interface"), INTERFACES)
def test_each_listed_module_has_all_of_its_interface(package: ModuleType, interface: type) -> None:
    names = module_names(package)
    assert names
    assert all(module_of(package, name, interface) for name in names)


def test_a_module_that_lacks_a_member_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    concise = f"{findings.__name__}.concise"
    module_of(findings, "concise", findings.Format)
    monkeypatch.delattr(sys.modules[concise], "SHOWS_TABLES")
    with pytest.raises(InternalError, match=f"{concise} lacks SHOWS_TABLES of Format"):
        module_of(findings, "concise", findings.Format)
