"""A finding about the configuration, which is about no table."""

from schemalint.model.finding import CheckResult, ObjectRef, Severity
from support.report_cases import finding, location_of, run

FILE, TEXT = "schemalint.toml", 'fail-on = "error"\nignore = [\n  "TW001",\n]\n'
RESULT = CheckResult(
    run("sales.orders"),
    (
        finding(
            "ignore gets TW001, effective after the merge",
            location_of(FILE, TEXT, "TW001"),
            code="CF001",
            rule="setting-loosened",
            severity=Severity.WARNING,
            table="",
            object=ObjectRef("setting", "ignore"),
            path=(),
            new="TW001",
            help="merge the change of the configuration by itself, before a change that needs it",
        ),
    ),
    sources={FILE: TEXT},
)
