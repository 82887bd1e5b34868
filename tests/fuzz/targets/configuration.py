"""Configuration files: each is read, or refused with a location."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import only_errors_of_the_input
from schemalint.project import config
from schemalint.project.config.storage_settings import resolve_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
WORDS = (
    *("[targets.dev]\n", "root = ", "catalog_uri = ", "catalog_token = ", "[[tables]]\n", "[severity]\n"),
    *(
        "[tool.schemalint]\n",
        "[targets.dev.storage]\n",
        "contracts = [",
        "${TOKEN}",
        "[removed]\n",
        "[spark]\n",
    ),
    *(
        "fail-on = ",
        "select = ",
        "[rules.CM001]\n",
        "against = ",
        "plugins = ",
        "engine = ",
        "root = true\n",
    ),
)
LONGEST = 2_000


def run(data: bytes) -> None:
    """Read the bytes as both kinds of files, and resolve the settings of the stores."""
    for name in config.FILES:
        with only_errors_of_the_input():
            for target in config.parse(name, data).targets.values():
                with only_errors_of_the_input():
                    resolve_variables(target, {"TOKEN": "secret"})


def seeds() -> Iterator[bytes]:
    """Yield the configuration of this project, and the examples in its documents."""
    yield (ROOT / "schemalint.toml").read_bytes()
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield from (found.encode() for found in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL))
    yield b'[tool.schemalint]\nselect = ["TW"]\n[tool.schemalint.targets.dev]\nroot = "s3://b/lake"\n'
