"""Live tables as JSON: ``show`` prints them, and ``check --live-from`` reads them in place of the log.

Each line is the object of one table; ``table.schema.json`` describes it. Writing and reading back keeps
everything that rules can see of a table.

So the same rules run where the tables are unreachable: a fork, a runner without credentials. For each commit
only what changed is kept, because schemas are large and most commits leave them alone; a property test
converts tables there and back.
"""

from __future__ import annotations

from schemalint.tables.table_json.from_json import from_json, read_lines
from schemalint.tables.table_json.table_document import FORMAT, TableDocument, TableFailure, TableJsonError
from schemalint.tables.table_json.to_json import failure_to_json, to_json

__all__ = [
    "FORMAT",
    "TableDocument",
    "TableFailure",
    "TableJsonError",
    "failure_to_json",
    "from_json",
    "read_lines",
    "to_json",
]
