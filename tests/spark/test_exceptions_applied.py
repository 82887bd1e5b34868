"""What exceptions approve is applied; what Delta cannot do is rewritten by hand, and then nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.cli import main

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

BASE: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: bigint}
  - {name: code, type: string, deprecated: {remove_after: 2999-12-31}}
properties: {delta.columnMapping.mode: name}
"""
DROPPED: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: bigint}
properties: {delta.columnMapping.mode: name}
dropped: [code]
allow:
  - {rule: CT003, column: code, from: string, reason: nobody reads it}
"""
NARROWED: Final = DROPPED.replace("type: bigint}", "type: int}") + (
    "  - {rule: TW001, column: a, from: bigint, to: int, via: rewrite, reason: all are small}\n"
)


def test_a_rewrite_by_hand_ends_the_wait(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lakehouse.repo.path)
    lakehouse.declare(BASE)
    assert main(["apply", "--yes"]) == 0
    lakehouse.insert("(1, 'x')")
    lakehouse.declare(DROPPED.partition("allow:")[0])
    assert main(["apply", "--yes", "--allow", "destructive"]) == 1
    lakehouse.declare(DROPPED)
    assert main(["apply", "--yes", "--allow", "destructive"]) == 0
    assert lakehouse.rows() == [{"a": 1}]

    lakehouse.repo.write("contracts/orders.yml", NARROWED)
    assert main(["check", "--live"]) == 0
    lakehouse.declare(NARROWED)
    before = lakehouse.table().version
    capsys.readouterr()
    assert main(["plan"]) == 4
    assert "waits for a rewrite" in capsys.readouterr().out
    assert main(["apply", "--yes"]) == 4
    assert lakehouse.table().version == before
    assert main(["check", "--all", "--live"]) == 0

    rewritten = lakehouse.session.sql(f"SELECT CAST(a AS INT) AS a FROM delta.`{lakehouse.uri}`")
    rewritten.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(lakehouse.uri)
    assert main(["plan", "--exit-code"]) == 0
    assert main(["apply", "--yes"]) == 0
    assert main(["check", "--all", "--live", "--strict"]) == 0
    assert "CT005" in capsys.readouterr().out
    assert lakehouse.rows() == [{"a": 1}]
