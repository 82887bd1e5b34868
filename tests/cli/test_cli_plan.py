"""Plans in every output format, as a reviewer reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, Decimal, Field
from schemalint.delta.stream_settings import java_hash
from schemalint.report.plan import markdown
from schemalint.report.text_helpers import MOST_CHARACTERS
from support.golden import assert_golden
from support.logs import commit_info, marker, metadata, protocol, write_log
from support.project import ORDERS, Project

EXPECTED = Path(__file__).parent / "plans"
MAPPED = "properties: {delta.columnMapping.mode: name, delta.enableTypeWidening: true}\n"
STREAMS = """\
consumers:
  - name: silver
    stream: {checkpoint: s3://chk/a, schema_tracking_location: s3://chk/a/schema}
  - name: bold
    stream:
      checkpoint: s3://chk/b
      schema_tracking_location: s3://chk/b/schema
      unblock: {rename: always, drop: always, type_change: always}
  - name: plain
    stream: {checkpoint: s3://chk/c}
  - {name: people, client: trino}
"""
EVERYTHING = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
  - name: total
    type: decimal(12,2)
    renamed_from: amount
    type_changes:
      - {from: "decimal(10,2)", to: "decimal(12,2)"}
  - {name: note, type: string, comment: Free text.}
dropped: [old]
constraints: {positive: total > 0}
"""
ACCEPTED = """\
[[tables]]
match = "*"
ignore = ["RD009", "RD010"]
"""
HOSTILE = (
    'x" | `a` </code><b>|\n\n# h; DROP TABLE t; @all ##[error] ::error:: \u202e [l](http://x.yz) ``` ${x} \\'
)


def escaped(text: str) -> str:
    """Escape a text as the table in a pull request comment does."""
    return re.sub(r"[^\w ]|_", lambda match: f"&#{ord(match[0])};", text)


class Table:
    """A project with a live table that has three columns and column mapping."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.path = project.repo.path.parent / "lake/sales/orders"
        self.path.parent.mkdir(parents=True)
        target = f'[targets.dev]\nroot = "{self.path.parent.parent}"\n'
        project.repo.write("schemalint.toml", target + ACCEPTED)
        before = ORDERS + "  - {name: old, type: bigint}\n" + MAPPED
        project.declare(before)
        revision = project.repo.commit()
        columns = (
            Field("id", LONG, column_id=1, physical_name="id"),
            Field("amount", Decimal(10, 2), column_id=2, physical_name="amount"),
            Field("old", LONG, column_id=3, physical_name="old"),
        )
        properties = {
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "3",
            "delta.enableTypeWidening": "true",
        }
        readers = ["columnMapping", "typeWidening"]
        table_protocol = protocol(3, 7, readers, [*readers, "appendOnly", "invariants"])
        write_log(
            self.path,
            [
                [commit_info("CREATE TABLE"), table_protocol, metadata(*columns, properties=properties)],
                [commit_info(), marker(before, revision)],
            ],
        )

    def declare(self, text: str) -> None:
        self.text = text + MAPPED + "protocol: {allow_upgrade: true}\n"
        self.project.declare(self.text)

    def plan(self, *arguments: str) -> str:
        run = self.project.run("plan", *arguments)
        assert run.status == 0, run.out + run.err
        return run.out

    def streams(self) -> Any:  # noqa: ANN401
        return json.loads(self.plan("--output-format", "json"))["streams"]

    def json(self) -> Any:  # noqa: ANN401
        (table,) = json.loads(self.plan("--output-format", "json"))["tables"]
        return table

    @property
    def root(self) -> str:
        return str(self.path.parent.parent)


@pytest.fixture
def table(project: Project) -> Table:
    return Table(project)


@pytest.mark.parametrize("output_format", ["text", "markdown", "sql", "json"])
def test_plan_is_the_golden_text(table: Table, output_format: str) -> None:
    table.declare(EVERYTHING + STREAMS)
    text = table.plan("--output-format", output_format).replace(table.root, "/lake")
    text = text.replace(escaped(table.root), escaped("/lake"))
    # The plan's hash depends on the table's location.
    text = re.sub(r"(plan )?([12])(:|&#58;)(?:[0-9a-f]{64}|[0-9a-f]{12}\b)", r"\g<1>\2\3hash", text)
    assert_golden(text, EXPECTED / f"everything.{output_format}")


def test_every_step_has_the_contract_line_that_causes_it(table: Table) -> None:
    table.declare(EVERYTHING)
    lines = (EVERYTHING + MAPPED).splitlines()
    lines_of_steps = {
        step["kind"]: {lines[place["line"] - 1].strip() for place in step["places"]}
        for step in table.json()["steps"]
    }
    assert lines_of_steps == {
        "drop_columns": {"dropped: [old]"},
        "rename_column": {"renamed_from: amount"},
        "add_columns": {"- {name: note, type: string, comment: Free text.}"},
        "alter_columns": {"type: decimal(12,2)"},
        "add_constraint": {"constraints: {positive: total > 0}"},
    }


def test_temporary_rename_has_the_line_that_declares_the_final_name(table: Table) -> None:
    table.declare(
        ORDERS.replace("{name: id,", "{name: old, renamed_from: id,")
        + "  - {name: id, type: bigint, renamed_from: old}\n"
    )
    steps = [step for step in table.json()["steps"] if step["kind"] == "rename_column"]
    assert [[place["line"] for place in step["places"]] for step in steps] == [[4], [7], [4]]


def test_each_declared_stream_has_its_verdict_and_its_own_settings(table: Table) -> None:
    table.declare(EVERYTHING + STREAMS)
    streams = {stream["consumer"]: stream for stream in table.streams()}
    assert list(streams) == ["silver", "bold", "plain"]
    # Delta takes consecutive commits of metadata alone as one change: steps 1 to 5, and the marker.
    assert streams["silver"] == {
        "table": "sales.orders",
        "consumer": "silver",
        "tracked": True,
        "verdict": "unknown",
        "if_up_to_date": "blocked",
        "stops": 1,
        "error": None,
        "since": None,
        "unblock": ["rename", "drop", "type_change"],
        "unknown": "the checkpoint s3://chk/a is not allowed in target dev, and was not opened",
        "settings": {
            f"spark.databricks.delta.streaming.allowSourceColumn{kind}.ckpt_{java_hash(path)}": "6"
            for path in ("s3://chk/a/sources/0", "s3a://chk/a/sources/0")
            for kind in ("Rename", "Drop", "TypeChange")
        },
    }
    assert [streams["bold"][key] for key in ("if_up_to_date", "stops", "unblock", "settings")] == [
        "restarts",
        1,
        [],
        {},
    ]
    assert [streams["plain"][key] for key in ("tracked", "if_up_to_date", "stops", "error")] == [
        False,
        "new-checkpoint",
        None,
        "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG",
    ]


@pytest.mark.parametrize(
    ("unblock", "remaining"),
    [
        ("rename: 6, drop: always, type_change: 6", []),
        ("rename: 5, drop: always", ["rename", "type_change"]),
    ],
)
def test_a_version_allows_the_changes_of_that_version_alone(
    table: Table, unblock: str, remaining: list[str]
) -> None:
    streams = STREAMS.replace("rename: always, drop: always, type_change: always", unblock)
    table.declare(EVERYTHING + streams)
    (bold,) = [stream for stream in table.streams() if stream["consumer"] == "bold"]
    assert bold["unblock"] == remaining


def test_property_without_the_delta_prefix_stops_no_stream(table: Table) -> None:
    table.declare(ORDERS + "  - {name: old, type: bigint}\n" + STREAMS)
    table.project.declare(table.text.replace("properties: {", "properties: {team: sales, "))
    assert [stream["if_up_to_date"] for stream in table.streams()] == ["continues"] * 3


def test_widening_stops_a_stream_without_tracking_only_if_it_runs(table: Table) -> None:
    table.declare(ORDERS.replace("(10,2)", "(12,2)") + "  - {name: old, type: bigint}\n" + STREAMS)
    (plain,) = [stream for stream in table.streams() if stream["consumer"] == "plain"]
    assert (plain["if_up_to_date"], plain["stops"], plain["since"]) == ("restarts", 1, "4.1")
    assert (
        "stops once; start it again; with Delta before 4.1 it cannot go on "
        "(DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG)"
    ) in table.plan()


def test_table_without_declared_streams_has_one_line_about_streams(table: Table) -> None:
    table.declare(EVERYTHING)
    assert table.plan().count("stream") == 1
    assert (
        "a stream with a schemaTrackingLocation stops once, blocked by rename, drop and type_change; "
        "one without cannot go on (DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG), and needs a "
        "new checkpoint"
    ) in table.plan()
    assert table.streams() == []


@pytest.mark.parametrize("text", [EVERYTHING + STREAMS, ORDERS.replace("bigint", "string")])
def test_json_is_valid_against_the_published_schema(table: Table, text: str) -> None:
    table.declare(text)
    run = table.project.run("plan", "--output-format", "json")
    content = json.loads(run.out)
    Draft202012Validator.check_schema(schema_of("plan"))
    Draft202012Validator(schema_of("plan")).validate(content)
    assert json.loads(table.project.run("schema", "plan").out) == schema_of("plan")


def test_out_writes_the_json_plan_whatever_the_output_format(table: Table) -> None:
    table.declare(EVERYTHING)
    file = table.project.repo.path / "plan.json"
    printed = table.plan("--out", str(file), "--output-format", "sql")
    assert printed.startswith("-- ")
    assert file.read_text(encoding="utf-8") == table.plan("--output-format", "json")


def test_sql_has_no_title_of_a_table_without_statements(table: Table) -> None:
    table.declare(ORDERS + "  - {name: old, type: bigint}\n")
    assert ": up to date\n" in table.plan()
    assert table.plan("--output-format", "sql") == ""


def test_column_left_out_of_the_contract_refuses_the_table_unless_the_rule_is_ignored_for_it(
    table: Table,
) -> None:
    table.declare(ORDERS + "description: changed\n")
    run = table.project.run("plan", "--output-format", "json")
    (plan,) = json.loads(run.out)["tables"]
    assert (run.status, plan["steps"], plan["record"]) == (1, [], False)
    assert [(refusal["kind"], refusal["code"]) for refusal in plan["refusals"]] == [("rule", "CM003")]
    assert "old is gone from the contract" in plan["refusals"][0]["reason"]
    settings = (table.project.repo.path / "schemalint.toml").read_text()
    ignored = '[[tables]]\nmatch = "sales.*"\nignore = ["CM003"]\n'
    table.project.repo.write("schemalint.toml", ignored + settings)
    plan = table.json()
    assert (plan["refusals"], len(plan["steps"]), plan["record"]) == ([], 1, True)


def test_change_refused_by_rule_and_planner_is_reported_once(table: Table) -> None:
    """The planner would refuse both changes too, with another status."""
    text = ORDERS.replace("type: bigint", "type: bigint, nullable: false")
    table.declare(text + "  - {name: old, type: bigint}\npartitioned_by: [id]\n")
    plan = table.project.run("plan", "--base", "HEAD")
    assert (plan.status, plan.out.count("\n  - ")) == (1, 2)


@pytest.mark.parametrize(
    ("revisions", "statement"),
    [
        (["{name: b, type: 'decimal(10,2)', renamed_from: amount}"], "RENAME COLUMN `amount` TO `b`"),
        (
            [
                "{name: b, type: 'decimal(10,2)', renamed_from: amount}",
                "{name: c, type: 'decimal(10,2)', renamed_from: b}",
            ],
            "RENAME COLUMN `amount` TO `c`",
        ),
        (
            [
                "{name: b, type: 'decimal(10,2)', renamed_from: amount}",
                "{name: c, type: 'decimal(10,2)', renamed_from: amount}",
            ],
            "RENAME COLUMN `amount` TO `c`",
        ),
        (
            ["{name: b, type: 'decimal(10,2)', renamed_from: amount}", "dropped: [b]"],
            "DROP COLUMNS (`amount`)",
        ),
        (
            [
                "{name: amount, type: 'decimal(10,2)'}, {name: n, type: date}",
                "{name: amount, type: 'decimal(10,2)'}, {name: m, type: date, renamed_from: n}",
            ],
            "`m` date AFTER `amount`",
        ),
    ],
)
def test_several_merged_revisions_are_one_plan(table: Table, revisions: list[str], statement: str) -> None:
    """Each revision is valid against the previous one; for the table they are a single edit."""
    head = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: bigint}, {name: old, type: bigint}"
    for revision in revisions:
        more = f"]\n{revision}" if revision.startswith("dropped") else f", {revision}]"
        table.declare(f"{head}{more}\n")
        table.project.repo.commit()
    plan = table.plan("--allow", "destructive")
    assert statement in plan
    assert "1 statement in 1 table" in plan


def test_exit_code_ignores_a_missing_marker(table: Table) -> None:
    table.declare(ORDERS + "  - {name: old, type: bigint}\n")
    table.project.declare(
        table.text.replace("{name: old, type: bigint}", "{name: old, type: bigint, comment: null}")
    )
    run = table.project.run("plan", "--exit-code")
    assert run.status == 0
    assert ": up to date\n" in run.out
    table.declare(EVERYTHING)
    assert table.project.run("plan", "--exit-code").status == 4


def test_only_terminals_get_colors(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.declare(EVERYTHING)
    assert "\x1b[" not in table.plan()
    assert "\x1b[" in table.plan("--color", "always")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in table.plan()


def _declare_hostile(table: Table, name: str = HOSTILE) -> None:
    quoted = json.dumps(HOSTILE)
    table.declare(
        ORDERS
        + f"  - {{name: old, type: bigint, comment: {quoted}}}\n"
        + f"  - {{name: {json.dumps(name)}, type: string}}\n"
        f"description: {quoted}\n"
        f"consumers:\n  - name: {quoted}\n    stream: {{checkpoint: a, schema_tracking_location: a/b}}\n"
    )
    # The reason of this step ends with the hostile text.
    table.project.declare(table.text.replace("properties: {", f"properties: {{team: {quoted}, "))


def test_a_name_that_cannot_be_shown_as_sql_withholds_the_statements_of_its_table(table: Table) -> None:
    _declare_hostile(table)
    text = table.plan("--output-format", "sql")
    assert "the statements are not shown" in text
    assert [line for line in text.splitlines() if not line.startswith("--")] == []


def test_hostile_text_stays_in_sql_comments_and_literals(table: Table) -> None:
    _declare_hostile(table, name="plain")
    lines = table.plan("--output-format", "sql").split("\n")
    comments = [line for line in lines if line.startswith("--")]
    assert any("DROP TABLE" in line for line in comments)
    for line in comments:
        assert line.isprintable()
        assert not line.endswith("\\")
        assert ";" not in line
    starts = [line.split(" ", 1)[0] for line in lines if line and line[0].isupper()]
    assert set(starts) == {"ALTER"}


def test_hostile_text_adds_no_markup(table: Table) -> None:
    _declare_hostile(table)
    text = table.plan("--output-format", "markdown")
    fenced = re.search(r"\n(`{3,})sql\n(.*?)\n\1\n", text, re.DOTALL)
    assert fenced is not None
    assert fenced[1] not in fenced[2]
    outside = text.replace(fenced[0], "\n")
    plain = re.sub(r"<code>(?:[A-Za-z0-9 ]|[^\x00-\x7f]|&#\d+;)*</code>", "CODE", outside)
    assert "&#64;" not in plain
    assert set(re.findall(r"<[^>]*>?", plain)) == {
        "<br>",
        "<details>",
        "<summary>",
        "</summary>",
        "</details>",
    }
    assert {line.count("|") for line in plain.splitlines() if line.startswith("|")} == {6}
    assert not set("`[@\\") & set(plain)
    assert "CODE" in plain


def test_hostile_text_sends_no_commands_to_a_terminal(table: Table) -> None:
    _declare_hostile(table)
    for line in table.plan().split("\n"):
        assert line.isprintable()
        assert "##[" not in line


def test_long_plan_fits_into_a_comment(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.declare(ORDERS + "  - {name: old, type: bigint}\n")
    many = "".join(f"  - {{name: c{number}, type: string, comment: {'x' * 200}}}\n" for number in range(400))
    table.project.declare(table.text.replace("properties:", f"{many}properties:", 1))
    text = table.plan("--output-format", "markdown")
    assert len(text) <= MOST_CHARACTERS
    assert "<details>" not in text, "the SQL is left out"
    monkeypatch.setattr(markdown, "MOST_CHARACTERS", 1_000)
    text = table.plan("--output-format", "markdown")
    assert len(text) <= 1_000
    assert "1 more section: see `schemalint plan`." in text
