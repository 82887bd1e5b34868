"""A hostile pull request: escapes, line ends, bidirectional text and CI commands in every text."""

from schemalint.base.errors import ContractError, Location
from schemalint.model.contract_edit import Fix, SetProperty, TextChange
from schemalint.model.finding import CheckResult, Consequence, ObjectRef, Run, Severity, SideRef, SkippedTable
from support.report_cases import HEAD, finding, location_of

ESCAPE = "\x1b[2J\x1b]8;;http://example.com\x07"
COMMANDS = "\n::add-mask::x\r##[set-output name=a]b ##vso[task.setvariable variable=c]d ###[group]e"
TURNED = "\u202eevil\u2066 \u200b\u2028\x85\xad"
NASTY = f"{ESCAPE}{COMMANDS}{TURNED}%0A::error::\ud800, 100%"
FILE = f" ::stop-commands::x,line=9:{NASTY}.yml"
TEXT = f"schemalint: 1\n  ::add-mask::y {ESCAPE}{TURNED}##[group] {{name: qty}}\n"
PLACE = location_of(FILE, TEXT, r"\{name: qty\}")
FINDINGS = (
    finding(
        f"::error::column {NASTY}",
        Location(FILE, 2, 1, 2, 5),
        help=f"::warning::{NASTY}",
        table=f"::notice::{NASTY}",
        target=NASTY,
        rule=f"x::{NASTY}",
        object=ObjectRef("column", NASTY),
        path=(NASTY,),
        old=NASTY,
        new=NASTY,
        delta_error=NASTY,
        previous_location=PLACE,
        then=(Consequence("TW001", Severity.ERROR, f"::error::{NASTY}", NASTY, NASTY),),
        fix=Fix(NASTY, (SetProperty(NASTY, NASTY),)),
        text_changes=(TextChange(PLACE, 0, 0, f"::debug::{NASTY}"),),
    ),
)
ERRORS = (ContractError(f"::error::{NASTY}", help=f"::error::{NASTY}", location=PLACE), ContractError(NASTY))
RUN = Run(
    base=SideRef(NASTY, None, NASTY),
    head=HEAD,
    target=NASTY,
    compared=(NASTY,),
    skipped=(SkippedTable(NASTY, NASTY),),
)
RESULT = CheckResult(RUN, FINDINGS, ERRORS, exit_status=2, sources={FILE: TEXT})
