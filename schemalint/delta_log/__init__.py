"""A Delta table's ``_delta_log``, read without a JVM: bytes in, protocol, metadata and their history out."""
