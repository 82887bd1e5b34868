"""`make protocol` names what a checkout of Delta has and schemalint's tables lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.checkout import lacking

if TYPE_CHECKING:
    from pathlib import Path

FILES: Final = {
    "PROTOCOL.md": """
## Valid Feature Names in Table Features

Feature | Name | Readers or Writers?
-|-|-
[Clustered Table](#clustered-table) | `clustering` | Writers only
[Halves](#halves) | `float16` | Readers and writers

### Primitive Types

Type Name | Description
-|-
long| 8-byte signed integer
half| 2-byte number

### Void Type
""",
    "protocol_rfcs/pages.md": "A writer needs the feature `pagedColumns` in its protocol.",
    "spark/src/main/scala/TableFeature.scala": """
object Old extends LegacyWriterFeature(name = "appendOnly", minWriterVersion = 2)
object OfTests extends WriterFeature(name = "testWriter")
object New extends ReaderWriterFeature(
  name = "newerFeature")
""",
    "spark/src/test/scala/TableFeature.scala": 'extends WriterFeature(name = "ofTests")',
    "kernel/src/main/java/TableFeatures.java": 'super(/* featureName = */ "ofKernel", 3, 7);',
    "spark/src/main/scala/DeltaConfig.scala": """
  val APPEND = buildConfig[Boolean](
    "appendOnly",
  val NEW = buildConfig[Option[Long]]("newProperty", "")
""",
    "kernel/src/main/java/TableConfig.java": '"delta.enableIcebergWriterCompatV1", "delta.kernelOnly"',
    "spark/src/main/resources/error/delta-error-classes.json":
        '{"DELTA_ADD_CONSTRAINTS": {}, "DELTA_OF_TOMORROW": {}}',
}  # fmt: skip


def test_names_that_no_table_has_are_listed(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert lacking(tmp_path) == {
        "features": ("float16", "newerFeature", "ofKernel", "pagedColumns"),
        "types": ("half",),
        "properties": ("delta.kernelOnly", "delta.newProperty"),
        "error classes": ("DELTA_OF_TOMORROW",),
    }


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is it a checkout of Delta"):
        lacking(tmp_path)
