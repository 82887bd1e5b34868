"""Read an entry of ``allow``, in a contract and in ``exceptions.yaml``."""

from __future__ import annotations

from schemalint.base.document import Path as YamlPath
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.texts import read_path
from schemalint.delta import properties
from schemalint.delta.datatype import Struct
from schemalint.delta.protocol import canonical
from schemalint.model.exception import NAMED, RuleException

_OBJECTS = ("column", *NAMED, "object")


def read_exception(
    written: native.RuleException, yaml_path: YamlPath, report: Report, columns: Struct
) -> RuleException:
    """Return an exception; report an error if it names several objects.

    A text that is no date stays as it is: such an exception has expired.
    """
    given = [key for key in _OBJECTS if key in written]
    if len(given) > 1:
        report.at_key(
            (*yaml_path, given[1]),
            f'an exception is for one object, not for "{given[0]}" and "{given[1]}"',
            "write one entry for each finding",
        )
    column, key, feature = written.get("column"), written.get("property"), written.get("feature")
    constraint = written.get("constraint")
    return RuleException(
        rule=written["rule"],
        reason=written["reason"],
        column=None if column is None else read_path(column, (*yaml_path, "column"), report, columns),
        property=None if key is None else properties.canonical(key),
        constraint=None if constraint is None else constraint.lower(),
        feature=None if feature is None else canonical(feature),
        consumer=written.get("consumer"),
        object=written.get("object"),
        old=written.get("from"),
        new=written.get("to"),
        via=written.get("via"),
        approved_by=written.get("approved_by"),
        expires=written.get("expires"),
    )
