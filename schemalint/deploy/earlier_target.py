"""``--after FILE``: a table changes in a target only once an earlier target has its declaration.

The file is the deploy log of that target, JSON lines of `apply --log`. Its lines name the hash of the
declaration that each table was brought to, so the log of another commit counts for every table whose
declaration is the same there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from schemalint.base import limits
from schemalint.base.errors import UsageError
from schemalint.base.json_object import JsonObject
from schemalint.base.printable import visible
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.delta.schema_json import load_json
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Environment, effective
from schemalint.model.json_forms import own_json
from schemalint.model.marker import declaration_hash
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.project.config.trust import TrustedTarget

_VERSION: Final = 1
_IS_DONE: Final = frozenset({"applied", "nothing", "recorded"})
_NO_COMMIT: Final = "an unknown commit"


@frozen
class EarlierTable:
    """What a deploy log says of a table.

    Attributes:
        declaration: The hash of the declaration in that target; None if the table could not be planned.
        outcome: The result, as in the log.
    """

    declaration: str | None
    outcome: str


@frozen
class EarlierDeploy:
    """A deploy log.

    Attributes:
        file: The file, as the user named it.
        target: The target that was deployed to.
        revision: The commit of the contracts; None if the log names none.
        tables: What it says of each table, by `table_key`.
    """

    file: str
    target: str
    revision: str | None
    tables: Mapping[str, EarlierTable]


def read_deploy_log(file: str, target: TrustedTarget, targets: Collection[str]) -> EarlierDeploy:
    """Read a deploy log for a run against another target.

    Args:
        file: The file, which may be a pipe.
        target: The target of this run.
        targets: The names of all targets of the configuration.

    Raises:
        UsageError: The file cannot be read, is no deploy log, or its target is no earlier one.
    """
    try:
        log = _parsed(file, read_given(file, limits.MAX_DEPLOY_LOG))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        help_text = "schemalint apply --log FILE writes one"
        raise UsageError(f"{file} is not a deploy log: {error}", help=help_text) from None
    if log.target == target.name:
        raise UsageError(
            f"{file} is the deploy log of {target.name}, the target of this run",
            help="--after takes the log of the target before it",
        )
    if log.target not in targets:
        raise UsageError(
            f"{file} is the deploy log of {visible(log.target)}, which is no target of the configuration",
            help=f"targets: {', '.join(sorted(targets))}",
        )
    return log


def in_order(plan: TablePlan, contract: Contract, earlier: EarlierDeploy) -> TablePlan:
    """Refuse a plan with work if the earlier target does not have the declaration of its table.

    Args:
        plan: The plan of the table.
        contract: The contract of the table, of which no target's part is merged yet.
        earlier: The deploy log of the earlier target.
    """
    there = effective(contract, Environment(earlier.target))
    if not plan.has_work or there.absent:
        return plan
    if (reason := _why_not(earlier, plan.table, declaration_hash(there))) is None:
        return plan
    refusal = Refusal(
        RefusalKind.ORDER,
        reason,
        f"apply this commit to {visible(earlier.target)} first, and give the log of that run",
    )
    return plan.refused(refusal)


def _why_not(earlier: EarlierDeploy, table: str, declaration: str) -> str | None:
    """Return why a declaration does not count as applied; None if it does."""
    where = f"{visible(earlier.target)} at {visible((earlier.revision or '')[:7]) or _NO_COMMIT}"
    earlier_table = earlier.tables.get(table_key(table))
    if earlier_table is None:
        return f"the deploy to {where} did not come to the table"
    if earlier_table.outcome not in _IS_DONE:
        return f"the deploy to {where} left the table {visible(earlier_table.outcome).replace('_', ' ')}"
    if earlier_table.declaration != declaration:
        return f"the deploy to {where} applied another declaration of the table"
    return None


def _parsed(file: str, content: bytes) -> EarlierDeploy:
    """Return the log of a file's lines.

    Raises:
        ValueError: It is none.
    """
    lines = list(_lines(content))
    if not lines or lines[0].text("type") != "started":
        raise ValueError("its first line does not say that a deploy started")
    started = lines[0]
    if (version := started.content.get("version")) != _VERSION:
        raise ValueError(f"its format is {str(version)[:40]!r}, not {_VERSION}")
    tables: dict[str, EarlierTable] = {}
    for line in lines[1:]:
        kind = line.text("type")
        if kind == "started":
            raise ValueError("it holds several deploys")
        if kind == "table":
            earlier_table = EarlierTable(line.nullable("declaration", str), line.text("outcome"))
            tables[table_key(line.text("table"))] = earlier_table
    return EarlierDeploy(file, started.text("target"), started.nullable("revision", str), tables)


def _lines(content: bytes) -> Iterator[JsonObject]:
    whole = content.split(b"\n")[:-1]  # a run that was killed wrote what follows the last line break
    for number, line in enumerate(whole, start=1):
        try:
            yield own_json(load_json(line, strict=True))
        except (ValueError, RecursionError):
            raise ValueError(f"line {number} is not a JSON object") from None
