"""Wide tables, changed in every line: the inputs of the tests that count operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

WIDENING: Final = "properties: {delta.enableTypeWidening: 'true'}\n"
MAPPED: Final = "properties: {delta.columnMapping.mode: name}\n"


def contract(columns: list[str], settings: str = "") -> str:
    """Return a contract with these columns, each in one line, and these settings."""
    return f"schemalint: 1\ntable: sales.orders\n{settings}columns:\n" + "".join(
        f"  - {{{column}}}\n" for column in columns
    )


def _columns(pattern: str, number: int, settings: str = "") -> str:
    return contract([pattern.format(n=n, before=number - 1 - n) for n in range(number)], settings)


def _blocks(pattern: str, number: int, settings: str = "") -> str:
    items = "".join("  - " + pattern.format(n=n).replace("\n", "\n    ") + "\n" for n in range(number))
    return f"schemalint: 1\ntable: sales.orders\n{settings}columns:\n{items}"


def _setting(key: str, line: str, number: int) -> str:
    lines = "".join(f"  {line.format(n=n)}\n" for n in range(number))
    return _columns("name: c{n}, type: int", number, f"{key}:\n{lines}")


def _struct(pattern: str, number: int, settings: str = "") -> str:
    fields = ",".join(pattern.format(n=n) for n in range(number))
    return contract([f'name: id, type: "struct<{fields}>"'], settings)


_RECORDED: Final = "name: c{{n}}, type: bigint, type_changes: [{{{{from: {}, to: {}}}}}]"
_INTS: Final = "name: c{n}, type: int"


def _ints(number: int) -> str:
    return _columns(_INTS, number)


def _drop_listed(number: int) -> str:
    listed = "dropped:\n" + "".join(f"  - c{n}\n" for n in range(number))
    return contract(["name: last, type: int"], MAPPED + listed)


def _readers(number: int) -> str:
    """Return the settings of a mapped table with a change data feed, and a consumer of each column."""
    readers = "".join(f"  - {{name: r{n}, columns: [c{n}], cdf: true}}\n" for n in range(number))
    properties = "properties: {delta.columnMapping.mode: name, delta.enableChangeDataFeed: true}"
    return f"{properties}\nconsumers:\n{readers}"


CHANGES: Final[dict[str, tuple[Callable[[int], str], Callable[[int], str]]]] = {
    "widened": (_ints, lambda n: _columns("name: c{n}, type: bigint", n)),
    "widened, enabled": (
        lambda n: _columns(_INTS, n, WIDENING),
        lambda n: _columns("name: c{n}, type: bigint", n, WIDENING),
    ),
    "widened, in blocks": (
        lambda n: _blocks("name: c{n}\ntype: int", n, WIDENING),
        lambda n: _blocks("name: c{n}\ntype: bigint", n, WIDENING),
    ),
    "narrowed": (lambda n: _columns("name: c{n}, type: bigint", n), _ints),
    "renamed": (
        lambda n: _columns(_INTS, n, MAPPED),
        lambda n: _columns("name: d{n}, type: int, renamed_from: c{n}", n, MAPPED),
    ),
    "renamed, without mapping": (
        _ints,
        lambda n: _columns("name: d{n}, type: int, renamed_from: c{n}", n),
    ),
    "swapped": (
        lambda n: _columns(_INTS, n, MAPPED),
        lambda n: _columns("name: c{n}, type: int, renamed_from: c{before}", n, MAPPED),
    ),
    "all names new": (_ints, lambda n: _columns("name: d{n}, type: int", n)),
    "case changed": (_ints, lambda n: _columns("name: C{n}, type: int", n)),
    "same names": (_ints, lambda n: contract(["name: c, type: int"] * n)),
    "all dropped": (
        lambda n: contract([*(f"name: c{i}, type: int" for i in range(n)), "name: last, type: int"]),
        lambda _n: contract(["name: last, type: int"]),
    ),
    "all dropped, listed": (
        lambda n: contract([*(f"name: c{i}, type: int" for i in range(n)), "name: last, type: int"], MAPPED),
        _drop_listed,
    ),
    "all new, mapped": (
        lambda _n: contract(["name: last, type: int"], MAPPED),
        lambda n: contract([*(f"name: c{i}, type: int" for i in range(n)), "name: last, type: int"], MAPPED),
    ),
    "comments": (_ints, lambda n: _columns("name: c{n}, type: int, comment: of {n}", n)),
    "nullability": (_ints, lambda n: _columns("name: c{n}, type: int, nullable: false", n)),
    "defaults": (_ints, lambda n: _columns("name: c{n}, type: int, default: '{n}'", n)),
    "generated": (_ints, lambda n: _columns("name: c{n}, type: int, generated: c{before} + 1", n)),
    "identity": (_ints, lambda n: _columns("name: c{n}, type: bigint, identity: {{start: 1}}", n)),
    "deprecated": (_ints, lambda n: _columns("name: c{n}, type: int, deprecated: {{since: 2026-01-01}}", n)),
    "reordered": (_ints, lambda n: _columns("name: c{before}, type: int", n)),
    "struct text": (
        lambda n: _struct("f{n}:int", n, WIDENING),
        lambda n: _struct("f{n}:bigint", n, WIDENING),
    ),
    "struct text, all names new": (lambda n: _struct("f{n}:int", n), lambda n: _struct("g{n}:int", n)),
    "struct text, recorded": (
        lambda n: _struct("f{n}:int", n, WIDENING),
        lambda n: _struct("f{n}:bigint", n, WIDENING).replace('>"}', f'>", type_changes: [{_records(n)}]}}'),
    ),
    "struct levels": (
        lambda n: _nested("type: int", n, WIDENING),
        lambda n: _nested("type: bigint", n, WIDENING),
    ),
    "struct levels, recorded": (
        lambda n: _nested("type: int", n, WIDENING),
        lambda n: _nested("type: bigint, type_changes: [{{from: int, to: bigint}}]", n, WIDENING),
    ),
    "struct levels, all names new": (
        lambda n: _nested("type: int", n, MAPPED),
        lambda n: _nested("type: int", n, MAPPED).replace("name: f", "name: g"),
    ),
    "struct levels, renamed": (
        lambda n: _nested("type: int", n, MAPPED),
        lambda n: _nested("type: int, renamed_from: f{n}", n, MAPPED).replace("name: f", "name: g"),
    ),
    "clustered_by": (_ints, lambda n: _setting("clustered_by", "- c{n}", n)),
    "partitioned_by": (_ints, lambda n: _setting("partitioned_by", "- c{n}", n)),
    "constraints": (_ints, lambda n: _setting("constraints", "k{n}: c{n} > 0", n)),
    "constraints, wrong": (_ints, lambda n: _setting("constraints", "k{n}: x{n} > 0", n)),
    "generated, wrong": (_ints, lambda n: _columns("name: c{n}, type: int, generated: x{before} + 1", n)),
    "properties": (_ints, lambda n: _setting("properties", "delta.p{n}: '1'", n)),
    "user properties": (_ints, lambda n: _setting("properties", "p{n}: '1'", n)),
    "features": (_ints, lambda n: _setting("features", "- f{n}", n)),
    "drop_features": (_ints, lambda n: _setting("drop_features", "- f{n}", n)),
    "dropped": (_ints, lambda n: _setting("dropped", "- d{n}", n)),
    "consumers": (_ints, lambda n: _setting("consumers", "- {{name: r{n}, columns: [c{n}]}}", n)),
    "consumers, unknown": (
        _ints,
        lambda n: _setting("consumers", "- name{n}\n  - {{name: r{n}, client: c{n}}}", n),
    ),
    "consumers of what is renamed": (
        lambda n: _columns("name: c{n}, type: int", n, _readers(n)),
        lambda n: _columns("name: d{n}, renamed_from: c{n}, type: int", n, _readers(n)),
    ),
    "allow": (_ints, lambda n: _setting("allow", "- {{rule: TW001, column: c{n}, reason: why}}", n)),
    "type_changes": (
        lambda n: _columns("name: c{n}, type: bigint", n, WIDENING),
        lambda n: _columns(
            "name: c{n}, type: bigint, type_changes: [{{from: int, to: bigint}}]", n, WIDENING
        ),
    ),
    "type_changes, wrong": (
        lambda n: _columns("name: c{n}, type: int", n, WIDENING),
        lambda n: _columns(_RECORDED.format("smallint", "int"), n, WIDENING),
    ),
    "types unknown": (_ints, lambda n: _columns("name: c{n}, type: inte", n)),
    "new table": (lambda _n: "", _ints),
    "removed table": (_ints, lambda _n: ""),
}
"""Texts of a contract before and after a change, for any number of columns."""


def _records(number: int) -> str:
    return ", ".join(f"{{at: f{n}, from: int, to: bigint}}" for n in range(number))


def _nested(attributes: str, number: int, settings: str) -> str:
    fields = "".join(f"      - {{name: f{n}, {attributes.format(n=n)}}}\n" for n in range(number))
    text = f"schemalint: 1\ntable: sales.orders\n{settings}columns:\n  - name: id\n    type: struct\n"
    return f"{text}    columns:\n{fields}"
