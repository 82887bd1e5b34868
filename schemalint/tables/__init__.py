"""From a table's name to the live table: catalogs, stores, the Delta log, streams' files, tables as JSON."""
