"""Everything that is printed: findings, plans, tables, what `apply` did."""
