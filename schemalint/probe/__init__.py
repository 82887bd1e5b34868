"""Ask readers which forms of tables they can read: small tables, one for each thing a reader must know."""
