"""Read a Delta table's ``_delta_log`` without a JVM: protocol, metadata and their history."""
