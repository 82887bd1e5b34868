"""The official JSON Schema of SARIF."""

from __future__ import annotations

import json
from functools import cache

from jsonschema import Draft4Validator

from support.npm import installed

_JEST_SARIF = "@microsoft/jest-sarif@1.0.0-beta.0"
_SCHEMA = "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"


@cache
def sarif_validator() -> Draft4Validator:
    """Return the validator; skip the test without Node.js."""
    text = (installed(_JEST_SARIF, "tests of SARIF") / _SCHEMA).read_text("utf-8-sig")
    return Draft4Validator(json.loads(text), format_checker=Draft4Validator.FORMAT_CHECKER)
