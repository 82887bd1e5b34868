"""What the clients of Delta tables can read and write: the client table, and the question to it."""

from schemalint.clients.support import cures, form_of, support
from schemalint.clients.table import client_names, find_client, parse_versions, read_row, rows_of

__all__ = [
    "client_names",
    "cures",
    "find_client",
    "form_of",
    "parse_versions",
    "read_row",
    "rows_of",
    "support",
]
