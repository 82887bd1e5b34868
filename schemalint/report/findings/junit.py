"""A JUnit report: a test suite for each table, and a test case for each finding.

Jenkins, GitLab and Azure read the dialect that the Maven plug-in Surefire writes. It knows no severity: a
finding that does not fail the run is a test that passed, with the finding as its output. One that an
exception approves is a skipped test with the reason. A failure of the run is an error in a suite of its own.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from schemalint.base.errors import SchemalintError
from schemalint.base.printable import SafeText, printable, xml_text
from schemalint.base.values import grouped
from schemalint.model.finding import CheckResult, Finding
from schemalint.report.findings._notes import approval_reason, failure_notes, finding_notes, location_text
from schemalint.report.findings._summary import shown, summary

SHOWS_TABLES = False

_RUN = "schemalint"
_CLEAN = "no findings"


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render the suite of the run, then one for each table, those without findings too."""
    root = Element("testsuites", {"name": _RUN})
    _run(SubElement(root, "testsuite", {"name": _RUN}), result)
    by_table = grouped(
        (finding.table or "configuration", finding) for finding in shown(result, show_existing=show_existing)
    )
    approved = grouped((approval.finding.table, approval) for approval in result.approved)
    for table in dict.fromkeys([*result.run.compared, *by_table, *approved]):
        suite = SubElement(root, "testsuite", {"name": table})
        for finding in by_table.get(table, ()):
            _finding(suite, finding, fails=result.fails(finding))
        for approval in approved.get(table, ()):
            case = _finding_case(suite, approval.finding)
            message = f"approved: {approval.finding.message} ({approval_reason(approval)})"
            SubElement(case, "skipped", {"message": message})
        if table not in by_table and table not in approved:
            _case(suite, table, _CLEAN)
    for suite in root:
        _count(suite, suite.attrib, "skipped")
    _count(root, root.attrib)
    return xml_text(root)


def _run(suite: Element, result: CheckResult) -> None:
    for error in result.errors:
        case = _case(suite, _RUN, str(error.location) if error.location else error.message)
        _failed(case, "error", error.message, _failure_text(error), "failure")
    for table in result.run.skipped:
        SubElement(_case(suite, table.table, "compared"), "skipped", {"message": table.reason})
    if not result.run.compared and not result.errors:
        SubElement(_case(suite, _RUN, "compared"), "skipped", {"message": summary(result)})
    if not len(suite):
        _case(suite, _RUN, "completed")
    SubElement(suite, "system-out").text = summary(result)


def _case(suite: Element, classname: str, name: str) -> Element:
    return SubElement(suite, "testcase", {"classname": classname, "name": name})


def _finding_case(suite: Element, finding: Finding) -> Element:
    about = finding.column or finding.object.name
    return _case(suite, suite.get("name", ""), " ".join(filter(None, (finding.code, finding.rule, about))))


def _finding(suite: Element, finding: Finding, *, fails: bool) -> None:
    case = _finding_case(suite, finding)
    message = f"{location_text(finding.location)}: {printable(finding.message)}"
    text = "\n".join([message, *map(str, finding_notes(finding))])
    if fails:
        _failed(case, "failure", finding.message, text, finding.code)
    else:
        SubElement(case, "system-out").text = f"{finding.severity.label}: {text}"


def _failed(case: Element, tag: str, message: str, text: str, kind: str) -> None:
    SubElement(case, tag, {"type": kind, "message": message}).text = text


def _failure_text(error: SchemalintError) -> str:
    location = f"{location_text(error.location)}: " if error.location else ""
    return "\n".join([f"{location}{printable(error.message)}", *map(str, failure_notes(error))])


def _count(element: Element, attributes: dict[str, str], *more: str) -> None:
    cases = list(element.iter("testcase"))
    attributes["tests"] = str(len(cases))
    for name, tag in (("failures", "failure"), ("errors", "error"), *((tag, tag) for tag in more)):
        attributes[name] = str(sum(case.find(tag) is not None for case in cases))
