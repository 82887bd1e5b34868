"""The values of schemalint: contracts, facts, findings, plans. Standard library only, no input or output."""
