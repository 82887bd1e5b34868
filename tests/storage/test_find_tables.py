"""`find_tables` in a local folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.storage import MOST_LEVELS, find_tables


def create_tables(root: Path, *tables: str) -> None:
    for table in tables:
        (root / table / "_delta_log").mkdir(parents=True)


def tables_below(root: Path) -> list[str]:
    return [Path(table).relative_to(root).as_posix() for table in find_tables(str(root))]


def test_tables_at_any_depth_are_found_in_order(tmp_path: Path) -> None:
    create_tables(tmp_path, "sales/orders", "sales/items", "audit", "__unity/schemas/1/tables/2")
    (tmp_path / "sales/notes.txt").write_text("no table")
    assert tables_below(tmp_path) == ["__unity/schemas/1/tables/2", "audit", "sales/items", "sales/orders"]


def test_a_root_may_be_a_table_itself(tmp_path: Path) -> None:
    create_tables(tmp_path, ".")
    assert tables_below(tmp_path) == ["."]


def test_a_root_may_be_a_uri(tmp_path: Path) -> None:
    create_tables(tmp_path, "a b")
    assert list(find_tables(tmp_path.as_uri())) == [str(tmp_path / "a b")]


def test_partitions_and_hidden_folders_are_not_entered(tmp_path: Path) -> None:
    create_tables(tmp_path, "orders", "orders/day=1/inner", ".trash/orders")
    assert tables_below(tmp_path) == ["orders"]


def test_links_are_followed_once(tmp_path: Path) -> None:
    create_tables(tmp_path / "elsewhere", "orders")
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "linked").symlink_to(tmp_path / "elsewhere")
    (lake / "loop").symlink_to(lake)
    assert tables_below(lake) == ["linked/orders"]


def test_tables_below_the_deepest_level_are_not_found(tmp_path: Path) -> None:
    create_tables(tmp_path, "/".join("a" * MOST_LEVELS), "/".join("b" * (MOST_LEVELS + 1)))
    assert tables_below(tmp_path) == ["/".join("a" * MOST_LEVELS)]


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LiveError, match="there is no such folder"):
        tables_below(tmp_path / "nowhere")


def test_a_denied_folder_is_an_error_after_all_other_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_tables(tmp_path, "a", "closed/b", "c")
    real = os.scandir

    def scandir(folder: Path) -> object:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    tables = find_tables(str(tmp_path))
    assert [Path(next(tables)).name, Path(next(tables)).name] == ["a", "c"]
    with pytest.raises(LiveError, match=r"cannot be listed: .*closed"):
        next(tables)
