"""The dbt project many times over: hundreds of models in all shapes, which depend on each other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

from made_files.changes import HERE

_SHOP: Final = HERE / "shop"


def write_big_shop(folder: Path, copies: int) -> None:
    """Write a project with so many copies of each model, snapshot, seed and exposure of the shop."""
    for name in ("dbt_project.yml", "profiles.yml"):
        folder.mkdir(exist_ok=True)
        shutil.copy(_SHOP / name, folder)
    for copy in range(copies):
        for file in _SHOP.glob("*/*.*"):
            text = re.sub(r"(ref\('\w+)'", rf"\1_{copy}'", file.read_text("utf-8"))
            text = re.sub(r"(alias='\w+)'", rf"\1_{copy}'", text)
            text = re.sub(r"(snapshot orders_snapshot)", rf"\1_{copy}", text)
            if file.name == "schema.yml":
                text = re.sub(r"(?m)^(  - name: \w+)$", rf"\1_{copy}", text)
            name = re.sub(r"(_v\d)?(\.\w+)$", rf"_{copy}\1\2", file.name)
            target = folder / file.parent.name / name
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
