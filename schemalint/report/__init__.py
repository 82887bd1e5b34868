"""Reports: findings, plans, tables, and the log of `apply`."""
