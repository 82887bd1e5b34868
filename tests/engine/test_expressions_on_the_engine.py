"""What schemalint says about the text of an expression agrees with Spark's parser and with Delta's writes."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.base.errors import ApplyError
from schemalint.delta.change import ConstraintChanged, TableAdded
from schemalint.delta.datatype import LONG, STRING, UNMANAGED, Field, Struct
from schemalint.delta.expression_faults import COLUMN_WORDS, expression_fault
from schemalint.delta.expressions import Expression, Place, unusable_part
from schemalint.delta.functions import FunctionKind, kinds
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.model.table_plan import Step, StepKind, TablePlan
from schemalint.spark.prechecks.expressions import require_accepted
from schemalint.spark.session_settings import required_settings
from support.sampling import some_of_each

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = Struct((Field("a", LONG), Field("s", STRING)))

# Delta accepts these constraints, and then refuses every row.
REFUSED_ON_WRITE = (
    "rand() >= 0",
    "uuid() IS NOT NULL",
    "reflect('java.util.UUID', 'randomUUID') IS NOT NULL",
    "current_user() <> 'x'",
    "current_schema() <> 'x'",
    "exists(SELECT 1)",
    "current_date > date'2020-01-01'",
    "current_user <> 'x'",
    "window(timestamp'2020-01-01', '1 day') IS NOT NULL",
    "hash(*) IN (SELECT 1)",
    "hash(*) IS NOT NULL",
)
REFUSED_AT_ONCE = ("max(a) > 1", "explode(array(a)) > 1", "row_number() OVER (ORDER BY a) > 1")
ACCEPTED = (
    "current_date() > date'2020-01-01'",
    "current_timestamp() > timestamp'2020-01-01'",
    "now() > timestamp'2020-01-01'",
    "a > 0 /* one ' */",
    "s <> 'a' 'b' -- two\n",
    "s LIKE ANY ('x', '%') AND system.builtin.abs(a) = 1",
)

_TEXTS = r"""
    a b 1 1e+5 1e-5f 2.5e+1BD .5 1. 5r r R X date ' ' " ` \ \\ '' ( ) [ ] , ; -- - /* */ /*+ / * // ://
    + = > -> :: : ? $ { } r' R" r'\' r'\\' 'x' "y" X'1F' u&' \u0027 \' é comment default not null check first
    constraint unique references and as select from case end in between | || @ # $$ cast( array<
"""
PIECES = (
    *_TEXTS.split(),
    *(" ", " ", "\n", "\r", "\\\n", "\u00a0", "\u2028", "\x00", " primary key ", " x int ", " after b "),
    *(" f\u0131rst ", " con\u017ftraint "),  # in upper case, as Spark compares keywords, they are ASCII
)


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> str:
    name = f"delta.`{tmp_path}/table`"
    spark.sql(f"CREATE TABLE {name} (a INT, s STRING) USING delta")
    return name


def test_constraints_that_fail_on_every_write_are_those_with_an_unusable_part(
    spark: SparkSession, table: str
) -> None:
    for text in (*REFUSED_ON_WRITE, *REFUSED_AT_ONCE, *ACCEPTED):
        is_unusable = unusable_part(Expression(Place.CONSTRAINT, text, "c"), COLUMNS) is not None
        assert is_unusable == (text not in ACCEPTED), text
    for text in REFUSED_AT_ONCE:
        assert refusal(spark, add_constraint(table, text)), text
    for text in some_of_each(REFUSED_ON_WRITE, lambda _: None, 3):
        spark.sql(add_constraint(table, text))
        assert refusal(spark, f"INSERT INTO {table} VALUES (1, 'x')"), text
        spark.sql(f"ALTER TABLE {table} DROP CONSTRAINT c")
    for number, text in enumerate(ACCEPTED):
        spark.sql(add_constraint(table, text).replace(" c ", f" c{number} "))
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")


def test_a_field_behind_a_map_or_an_array_fails_every_write(spark: SparkSession, tmp_path: Path) -> None:
    """Delta finds the columns of a constraint itself, and looks only into structs."""
    table = f"delta.`{tmp_path}/nested`"
    columns = parse_type(
        "struct<m: map<string,int>, l: array<struct<q: int>>, s: struct<l: array<struct<q: int>>>>"
    )
    assert isinstance(columns, Struct)
    declared = ", ".join(f"{field.name} {print_type(field.type)}" for field in columns.fields)
    spark.sql(f"CREATE TABLE {table} ({declared}) USING delta")
    insert = f"INSERT INTO {table} VALUES (map('a', 1), array(struct(1)), struct(array(struct(1))))"
    refused = {"m.a > 0", "l.q IS NOT NULL", "l.q[0] > 0", "size(s.l.q) > 0"}
    accepted = {"m['a'] > 0", "l[0].q > 0", "element_at(l, 1).q > 0", "s.l[0].q > 0"}
    for text in sorted(refused | accepted):
        part = unusable_part(Expression(Place.CONSTRAINT, text, "c"), columns)
        assert (part is not None and part.is_in_collection) == (text in refused), text
        spark.sql(add_constraint(table, text))
        error = "DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT" if text in refused else ""
        assert error in refusal(spark, insert), text
        assert bool(refusal(spark, insert)) == bool(error), text
        spark.sql(f"ALTER TABLE {table} DROP CONSTRAINT c")


def test_variable_in_a_constraint_has_another_value_in_each_session(spark: SparkSession, table: str) -> None:
    with required_settings(spark):
        spark.sql(add_constraint(table, "s <> '${schemalint.name}'"))
    spark.conf.set("schemalint.name", "x")
    assert "violated by row" in refusal(spark, f"INSERT INTO {table} VALUES (1, 'x')")
    spark.conf.set("schemalint.name", "y")
    assert not refusal(spark, f"INSERT INTO {table} VALUES (1, 'x')")
    spark.conf.unset("schemalint.name")


def test_delta_reads_literals_in_constraints_otherwise_than_spark(spark: SparkSession, table: str) -> None:
    assert "UNSUPPORTED_TYPED_LITERAL" in refusal(spark, add_constraint(table, "s <> r'x'"))
    spark.sql(add_constraint(table, "s <> 'it''s'"))
    assert "violated by row" in refusal(spark, f"INSERT INTO {table} VALUES (1, 'its')")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'it\\'s')")


def test_known_functions_are_those_of_spark(spark: SparkSession) -> None:
    names = {row[0] for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    assert set(kinds()) == {name for name in names if re.fullmatch(r"\w+", name)}


def test_functions_of_one_row_are_deterministic_and_no_others(spark: SparkSession) -> None:
    """Analyse the example in each function's own description; it runs nothing."""
    session, jvm = java_side(spark)
    none = jvm.scala.Option.apply(None)
    found = set()
    for name in kinds():
        info = (
            session.sessionState()
            .catalog()
            .lookupFunctionInfo(jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name, none, none))
        )
        for example in re.findall(r"> (SELECT .*);", (info.getExamples() or "").replace("_FUNC_", name)):
            try:
                plan = session.sql(example).queryExecution().analyzed()
            except Exception:  # noqa: BLE001, S112 (examples of switched off functions)
                continue
            found |= set() if plan.deterministic() else {name}
            break
    kinds_of = {FunctionKind.NOT_DETERMINISTIC, FunctionKind.JAVA}
    assert found == {name for name, kind in kinds().items() if kind in kinds_of}


@pytest.mark.each_time
def test_one_expression_stays_in_its_place_in_a_statement(spark: SparkSession) -> None:
    """Generate texts, chosen by ``SCHEMALINT_SEED``: a statement that Spark parses has nothing else in it."""
    parser = java_side(spark)[0].sessionState().sqlParser()
    parsed = 0
    with required_settings(spark):
        for text in generated_texts(1500):
            places = {"AS": f"GENERATED ALWAYS AS ({text})"} if expression_fault(text) is None else {}
            if expression_fault(text, without=COLUMN_WORDS) is None:
                places["DEFAULT"] = f"DEFAULT {text}"
            for clause in places.values():
                columns = f"p INT, q STRING {clause} COMMENT 'c1', z INT COMMENT 'c2'"
                statement = f"CREATE TABLE t ({columns}) USING delta"
                try:
                    plan = parser.parsePlan(statement).toString()
                except Exception:  # noqa: BLE001, S112 (a refused statement does nothing)
                    continue
                parsed += 1
                found = re.findall(r"columndefinition\((\w+), (\w+), true, (None|Some\(c\d\))", plan)
                assert found == [
                    ("p", "IntegerType", "None"),
                    ("q", "StringType", "Some(c1)"),
                    ("z", "IntegerType", "Some(c2)"),
                ], statement
                assert "constraint(" not in plan, statement
    assert parsed > 100


@pytest.mark.each_time
def test_apply_asks_spark_s_parser_before_the_first_statement(spark: SparkSession, tmp_path: Path) -> None:
    """Also where a plan contains a text that schemalint took for one expression."""
    columns = Struct(
        (Field("a", LONG), Field("b", LONG, default="1, extra BIGINT"), Field("c", LONG, generated="a"))
    )
    create = Step(StepKind.CREATE, "", (TableAdded(TableState(columns=columns)),), ())
    constraint = "_metadata.x > 0) OR (a > 0"
    add = Step(StepKind.ADD_CONSTRAINT, "", (ConstraintChanged("k", UNMANAGED, constraint),), ())
    plan = TablePlan("t", str(tmp_path / "t"), "", steps=(create, add))
    with required_settings(spark), pytest.raises(ApplyError) as raised:
        require_accepted(spark, plan, f"delta.`{tmp_path}/t`")
    assert raised.value.exit_status == 2
    assert "the default of b: " in raised.value.message
    assert "the constraint k: " in raised.value.message
    assert "generation expression" not in raised.value.message
    assert raised.value.message.count("PARSE_SYNTAX_ERROR") == 2


def java_side(spark: SparkSession) -> tuple[Any, Any]:
    """Return the session of the JVM, and the JVM: PySpark has no public access."""
    return spark._jsparkSession, spark._jvm  # noqa: SLF001


def add_constraint(table: str, text: str) -> str:
    return f"ALTER TABLE {table} ADD CONSTRAINT c CHECK ({text})"


def refusal(spark: SparkSession, statement: str) -> str:
    """Return the engine's error; empty if it runs the statement."""
    try:
        spark.sql(statement).collect()
    except Exception as error:  # noqa: BLE001 (of Java or of pyspark)
        return str(error)
    return ""


def generated_texts(number: int) -> Iterator[str]:
    chosen = random.Random(os.environ.get("SCHEMALINT_SEED", "1"))  # noqa: S311 (no secret is made of it)
    for _ in range(number):
        begin = chosen.choice(("a > 1 ", "'x' ", "a ", "1 ", "r'a' ", ""))
        end = chosen.choice(("", "", " ' ", "'", "\n", " 'x'", ")", "*/"))
        yield begin + "".join(chosen.choices(PIECES, k=chosen.randint(0, 5))) + end
