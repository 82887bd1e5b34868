"""What a change of an option may no longer find: each option of the rules about a team's wishes."""

from __future__ import annotations

import pytest

from schemalint.project.config import parse
from schemalint.review.loosened_settings import loosenings_of
from schemalint.review.lost_options import lost_options, may_overlap
from schemalint.review.rulebook import load_rules
from support.rule_judging import built_in

# The option, a strict value, a looser one, and what the loosening names.
WIDENED = [
    ("PO001.pattern", '"[a-z]+"', '"[a-zA-Z]+"', "[a-z]+ -> [a-zA-Z]+"),
    ("PO001.except", '["a"]', '["a", "b"]', "None -> b"),
    ("PO001.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO002.pattern", '"[a-z]+"', '"[a-z]*"', "[a-z]+ -> [a-z]*"),
    ("PO002.levels", '"all"', '"top"', "all -> top"),
    ("PO002.except", "[]", '["b"]', "None -> b"),
    ("PO002.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO003.of", '["table", "column"]', '["table"]', "column -> None"),
    ("PO003.levels", '"all"', '"top"', "all -> top"),
    ("PO003.except", "[]", '["b"]', "None -> b"),
    ("PO003.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO004.required", "true", "false", "true -> false"),
    ("PO004.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO005.types", '{real = "", binary = ""}', '{float = ""}', "binary -> None"),
    ("PO005.types", '{decimal = ""}', '{decimal = "decimal(9,2)"}', "decimal =  -> decimal = decimal(9,2)"),
    ("PO005.levels", '"all"', '"top"', "all -> top"),
    ("PO005.except", "[]", '["b"]', "None -> b"),
    ("PO005.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO006.names", '{a = ["int"], b = ["int"]}', '{a = ["int"]}', "b -> None"),
    ("PO006.names", '{a = ["int"]}', '{a = ["integer", "date"]}', "None -> a = date"),
    ("PO006.levels", '"all"', '"top"', "all -> top"),
    ("PO006.except", "[]", '["b"]', "None -> b"),
    ("PO006.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO007.types", '{int = "a", date = "b"}', '{integer = "a"}', "date -> None"),
    ("PO007.types", '{int = "a"}', '{int = "a.*"}', "int = a -> int = a.*"),
    ("PO007.levels", '"all"', '"top"', "all -> top"),
    ("PO007.except", "[]", '["b"]', "None -> b"),
    ("PO007.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO008.columns", '{a = "int", b = ""}', '{a = "integer"}', "b -> None"),
    ("PO008.columns", '{a = "int"}', '{a = ""}', "a = int -> a = any type"),
    ("PO008.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO009.required", '{a = "1", b = "2"}', '{a = "1"}', "b -> None"),
    ("PO009.required", '{a = "1"}', '{a = "2"}', "a = 1 -> a = 2"),
    ("PO009.forbidden", '["a", "b"]', '["b"]', "a -> None"),
    ("PO009.features_forbidden", '["a", "b"]', '["b"]', "a -> None"),
    ("PO009.applies_to", '"all"', '"changed"', "all -> changed"),
    ("PO010.most_columns", "300", "301", "300 -> 301"),
    ("PO010.deepest", "5", "6", "5 -> 6"),
    ("PO010.partitions", '"none"', '["date"]', "None -> date"),
    ("PO010.partitions", '["date"]', '["date", "string"]', "None -> string"),
    ("PO010.applies_to", '"all"', '"changed"', "all -> changed"),
]


def _config(option: str, value: str | None, *tables: tuple[str, str]) -> str:
    code, name = option.split(".")
    text = "" if value is None else f"[options.{code}]\n{name} = {value}\n"
    return text + "".join(
        f'[[tables]]\nmatch = "{match}"\noptions.{code}.{name} = {of_tables}\n' for match, of_tables in tables
    )


def _lost(base: str, head: str) -> list[str]:
    before, after = (parse("schemalint.toml", text.encode()) for text in (base, head))
    return [f"{lost.old} -> {lost.new}" for lost in lost_options(before, after, load_rules())]


@pytest.mark.parametrize(("option", "strict", "loose", "named"), WIDENED)
def test_a_value_that_finds_less_is_a_loosening(option: str, strict: str, loose: str, named: str) -> None:
    assert _lost(_config(option, strict), _config(option, loose)) == [named]
    assert _lost(_config(option, strict), _config(option, strict)) == []


# Of two patterns, or two values of a property, nobody knows which one finds more.
UNDECIDED = ("PO001.pattern", "PO002.pattern", "PO005.types", "PO007.types", "PO009.required")
NARROWED = [row[:3] for row in WIDENED if row[0] not in UNDECIDED]


@pytest.mark.parametrize(("option", "strict", "loose"), NARROWED)
def test_a_value_that_finds_more_is_none(option: str, strict: str, loose: str) -> None:
    assert _lost(_config(option, loose), _config(option, strict)) == []


@pytest.mark.parametrize("option", sorted({row[0] for row in WIDENED}))
def test_an_option_that_goes_is_a_loosening_and_a_new_one_is_none(option: str) -> None:
    value = next(strict for name, strict, *_ in WIDENED if name == option)
    has_default = option.partition(".")[2] in ("except", "levels", "applies_to")
    gone = _lost(_config(option, value), "")
    if option.endswith(".levels"):
        assert gone == []  # the strict value is the default
    else:
        assert gone
    if not has_default:
        assert _lost("", _config(option, value)) == []


def test_every_option_has_a_case_in_each_direction() -> None:
    declared = {
        f"{rule.code}.{option.name}"
        for rule in built_in().values()
        for option in rule.declared_options
        if rule.code.startswith("PO")
    }
    assert {option for option, *_ in WIDENED} == declared


def test_no_exceptions_at_all_is_stricter_than_the_default() -> None:
    assert _lost("", _config("PO002.except", "[]")) == []
    assert _lost("", _config("PO002.except", '["_.*"]')) == ["None -> _.*"]
    assert _lost(_config("PO002.except", "[]"), "") == [
        f"None -> {name}"
        for name in ("_rescued_data", "_change_type", "_commit_.*", "_fivetran_.*", "__START_AT", "__END_AT")
    ]


MOST = "PO010.most_columns"


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        # a value for some tables
        (("9",), ("9", ("gold.*", "99")), ["9 -> 99"]),
        (("9",), ("9", ("gold.*", "3")), []),
        (("9", ("gold.*", "3")), ("9",), ["3 -> 9"]),
        (("9", ("gold.*", "99")), ("9",), []),
        ((None, ("gold.*", "3")), (None,), ["3 -> None"]),
        # the value of all tables changes under that of some
        (("9", ("gold.*", "3")), ("10", ("gold.*", "3")), ["9 -> 10"]),
        (("9", ("*", "3")), ("10", ("*", "3")), []),
        # the last one counts: another order is another value
        (("9", ("*.a", "3"), ("gold.*", "5")), ("9", ("gold.*", "5"), ("*.a", "3")), []),
        (("9", ("*.a", "5"), ("gold.*", "3")), ("9", ("gold.*", "3"), ("*.a", "5")), ["3 -> 5"]),
        # tables that no glob shares
        (("9", ("gold.*", "3")), ("9", ("gold.*", "3"), ("silver.*", "2")), []),
        (("9", ("gold.*", "3")), ("9", ("silver.*", "3")), ["3 -> 9"]),
        (("9", ("gold.a", "3")), ("9", ("gold.*", "3")), []),
        (("9", ("gold.*", "3")), ("9", ("gold.a", "3")), ["3 -> 9"]),
        # the same in another spelling
        (("9", ("Gold.*", "3")), ("9", ("gold.*", "3")), []),
        (("9", ("gold.*", "99"), ("gold.*", "3")), ("9", ("gold.*", "3")), []),
    ],
)
def test_values_of_tables_are_compared_where_both_can_count(
    base: tuple[str | None, ...], head: tuple[str | None, ...], expected: list[str]
) -> None:
    texts = [_config(MOST, value, *tables) for value, *tables in (base, head)]  # type: ignore[arg-type]
    assert _lost(*texts) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a.*", "b.*", False),
        ("*.a", "*.b", False),
        ("a.*", "*.b", True),
        ("a.b", "a.*", True),
        ("a.b", "b.*", False),
        ("a?c", "abc", True),
        ("[ab].x", "c.*", True),  # classes are not read: better one comparison more
        ("*", "a", True),
    ],
)
def test_globs_that_share_no_table_are_known(one: str, other: str, *, expected: bool) -> None:
    assert may_overlap(one, other) is may_overlap(other, one) is expected


def test_the_setting_is_named_as_it_is_written() -> None:
    base = parse("a.toml", _config(MOST, "9", ("gold.*", "3")).encode())
    head = parse("a.toml", _config(MOST, "10", ("gold.*", "4")).encode())
    assert [(each.key, each.old, each.new) for each in loosenings_of(base, head)] == [
        ("options.PO010.most_columns", "9", "10"),
        ("tables.gold.*.options.PO010.most_columns", "3", "4"),
    ]


def test_of_a_rule_that_is_unknown_each_difference_counts() -> None:
    assert _lost("[options.XX001]\nmost = 3\n", "[options.XX001]\nmost = 2\n") == ["3 -> 2"]
    assert _lost("", '[options.XX001]\nmost = ["a"]\n') == ["None -> a"]
