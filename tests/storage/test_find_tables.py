"""Tables below a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemalint.errors import LiveError
from schemalint.storage import MOST_LEVELS, find_tables


def make(root: Path, *tables: str) -> None:
    for table in tables:
        (root / table / "_delta_log").mkdir(parents=True)


def below(root: Path) -> list[str]:
    return [Path(found).relative_to(root).as_posix() for found in find_tables(str(root))]


def test_tables_are_found_at_any_depth_in_order(tmp_path: Path) -> None:
    make(tmp_path, "sales/orders", "sales/items", "audit", "__unity/schemas/1/tables/2")
    (tmp_path / "sales/notes.txt").write_text("no table")
    assert below(tmp_path) == ["__unity/schemas/1/tables/2", "audit", "sales/items", "sales/orders"]


def test_a_root_may_be_a_table_itself(tmp_path: Path) -> None:
    make(tmp_path, ".")
    assert below(tmp_path) == ["."]


def test_a_root_may_be_a_uri(tmp_path: Path) -> None:
    make(tmp_path, "a b")
    assert list(find_tables(tmp_path.as_uri())) == [str(tmp_path / "a b")]


def test_partitions_and_hidden_folders_are_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "orders", "orders/day=1/inner", ".trash/orders")
    assert below(tmp_path) == ["orders"]


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    make(tmp_path / "elsewhere", "orders")
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "linked").symlink_to(tmp_path / "elsewhere")
    (lake / "loop").symlink_to(lake)
    assert below(lake) == ["linked/orders"]


def test_what_lies_too_deep_is_not_found(tmp_path: Path) -> None:
    make(tmp_path, "/".join("a" * MOST_LEVELS), "/".join("b" * (MOST_LEVELS + 1)))
    assert below(tmp_path) == ["/".join("a" * MOST_LEVELS)]


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LiveError, match="there is no such folder"):
        below(tmp_path / "nowhere")


def test_a_denied_folder_is_told_after_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a", "closed/b", "c")
    real = os.scandir

    def scandir(folder: Path) -> object:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    found = find_tables(str(tmp_path))
    assert [Path(next(found)).name, Path(next(found)).name] == ["a", "c"]
    with pytest.raises(LiveError, match=r"cannot be listed: .*closed"):
        next(found)
