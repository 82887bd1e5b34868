"""A dbt project in a repository, and the manifest that dbt made of it last."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from support.project import Project


class Shop(Project):
    """The dbt project, committed; ``target/`` is ignored, and holds what dbt made last."""

    manifest: dict[str, Any]

    def model(self, name: str) -> dict[str, Any]:
        """Return a model of the manifest, to be edited."""
        node: dict[str, Any] = self.manifest["nodes"][f"model.shop.{name}"]
        return node

    def column(self, model: str, name: str) -> dict[str, Any]:
        """Return a column of a model, to be edited."""
        column: dict[str, Any] = self.model(model)["columns"][name]
        return column

    def parse(self, file: str = "target/manifest.json") -> None:
        """Write the manifest as ``dbt parse`` does: that of the working tree is new."""
        manifest = self.manifest
        if file == "target/manifest.json":
            now = dt.datetime.now(tz=dt.UTC).isoformat()
            manifest = {**manifest, "metadata": {**manifest["metadata"], "generated_at": now}}
        self.repo.write(file, json.dumps(manifest))

    def compare(self, *arguments: str) -> Any:  # noqa: ANN401 (a report, as JSON has it)
        """Return the report of a check against the manifest of the base."""
        run = self.run(
            "check", "--base-from", "dbt:../state/manifest.json", "--output-format", "json", *arguments
        )
        return json.loads(run.out)
